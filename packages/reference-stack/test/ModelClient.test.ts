import * as AgentConfig from "@buzz-orchestra/reference-stack/buzz-agent/AgentConfig"
import { HttpPost, HttpPostFailed } from "@buzz-orchestra/reference-stack/HttpPost"
import * as Model from "@buzz-orchestra/reference-stack/buzz-agent/Model"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { TracingLog } from "../src/TracingLog.ts"
import * as Answers from "./providerAnswers.ts"

/** What the other end does with one request: answers, breaks the connection, never stops, or says nothing. */
type Act = readonly [status: number, body: unknown] | "broken" | "endless" | "silent"

const anthropic = {
  BUZZ_AGENT_PROVIDER: "anthropic",
  ANTHROPIC_API_KEY: "sk-secret",
  ANTHROPIC_MODEL: "m",
  ANTHROPIC_BASE_URL: "http://llm.test"
}
const openAi = {
  BUZZ_AGENT_PROVIDER: "openai",
  OPENAI_COMPAT_API_KEY: "sk-secret",
  OPENAI_COMPAT_MODEL: "m",
  OPENAI_COMPAT_BASE_URL: "http://llm.test/v1"
}

/** A model whose provider does these things in turn, the requests that it saw, and the lines of the log. */
const scripted = Effect.fnUntraced(function* (env: Record<string, string>, ...acts: ReadonlyArray<Act>) {
  const { limits, provider } = Result.getOrThrow(AgentConfig.parse(env))
  if (provider._tag === "Scripted") return yield* Effect.die("not an HTTP provider")
  const requests: Array<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> = []
  const lines: Array<string> = []
  const http = HttpPost.of({
    send: ({ headers, url }) => {
      const act = acts[requests.length] ?? "silent"
      requests.push({ url, headers })
      if (act === "silent") return Effect.never
      if (act === "broken" || act === "endless")
        return Effect.fail(new HttpPostFailed({ detail: `it was ${act}`, isTooLong: act === "endless" }))
      const [status, body] = act
      return Effect.succeed({ status, body: typeof body === "string" ? body : JSON.stringify(body) })
    }
  })
  const log = TracingLog.layerWith({
    filter: [{ target: "", level: "INFO" }],
    ansi: false,
    write: (line) => void lines.push(line)
  })
  const model = yield* Effect.provide(Model.make(provider, limits), Layer.merge(Layer.succeed(HttpPost, http), log))
  const ask = model.ask({ system: "s", history: [{ _tag: "Prompt", text: "go" }], tools: [] })
  return { ask, requests, lines }
})

const OVERLOADED: Act = [529, Answers.messages.refusal("overloaded_error", "Overloaded")]
const LIMITED: Act = [429, Answers.messages.refusal("rate_limit_error", "Slow down")]

it.effect("asks with the provider's headers, and never shows the key", () =>
  Effect.gen(function* () {
    const one = yield* scripted(anthropic, [200, Answers.messages.end])
    assert.strictEqual((yield* one.ask).text, "Done.")
    const [request] = one.requests
    assert.strictEqual(request?.url, "http://llm.test/v1/messages")
    assert.deepInclude(request?.headers, { "x-api-key": "sk-secret", "anthropic-version": "2023-06-01" })
    const other = yield* scripted(openAi, [200, Answers.chat.end])
    assert.strictEqual((yield* other.ask).text, "Done.")
    assert.strictEqual(other.requests[0]?.url, "http://llm.test/v1/chat/completions")
    assert.strictEqual(other.requests[0]?.headers["authorization"], "Bearer sk-secret")
  })
)

it.effect("tries again after 429, 5xx and a broken connection, up to three times in all", () =>
  Effect.gen(function* () {
    const lucky = yield* scripted(anthropic, LIMITED, "broken", [200, Answers.messages.end])
    const answer = yield* Effect.forkChild(lucky.ask, { startImmediately: true })
    // Half of the pause at least, all of it at most.
    yield* TestClock.adjust("249 millis")
    assert.lengthOf(lucky.requests, 1)
    yield* TestClock.adjust("251 millis")
    assert.lengthOf(lucky.requests, 2)
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* Fiber.join(answer)).text, "Done.")
    assert.lengthOf(lucky.requests, 3)
    assert.match(lucky.lines[0] ?? "", /WARN buzz_agent: provider: status 429: Slow down; trying again in \d+ ms/)
    assert.include(lucky.lines[1], "provider: it was broken; trying again")
    assert.notInclude(lucky.lines.join(""), "sk-secret")

    const unlucky = yield* scripted(anthropic, OVERLOADED, OVERLOADED, OVERLOADED, [200, Answers.messages.end])
    const failure = yield* Effect.forkChild(Effect.flip(unlucky.ask), { startImmediately: true })
    yield* TestClock.adjust("2 seconds")
    const { code, detail } = yield* Fiber.join(failure)
    assert.deepStrictEqual([code, detail], [-32_000, "llm: provider: status 529: Overloaded"])
    assert.lengthOf(unlucky.requests, 3)
  })
)

it.effect("does not try again what cannot become better", () =>
  Effect.gen(function* () {
    for (const [act, text] of [
      [[400, Answers.messages.refusal("invalid_request_error", "no such model")], "status 400: no such model"],
      [[404, "<html>not here</html>"], "status 404: <html>not here</html>"],
      [[200, "<html>hello</html>"], "unexpected response: Expected"],
      ["endless", "it was endless"]
    ] as const) {
      const one = yield* scripted(anthropic, act)
      const { code, detail } = yield* Effect.flip(one.ask)
      assert.strictEqual(code, -32_000)
      assert.include(detail, `llm: provider: ${text}`)
      assert.lengthOf(one.requests, 1)
    }
  })
)

it.effect("tells a refused key apart; only the OpenAI side shows it once more", () =>
  Effect.gen(function* () {
    const one = yield* scripted(anthropic, [401, Answers.messages.refusal("authentication_error", "invalid x-api-key")])
    const { code, detail } = yield* Effect.flip(one.ask)
    assert.deepStrictEqual([code, detail], [-32_001, "llm: provider: status 401: invalid x-api-key"])
    assert.lengthOf(one.requests, 1)

    const refused: Act = [403, Answers.chat.refusal("no access")]
    const other = yield* scripted(openAi, refused, refused, refused)
    const failure = yield* Effect.forkChild(Effect.flip(other.ask), { startImmediately: true })
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual((yield* Fiber.join(failure)).code, -32_001)
    assert.lengthOf(other.requests, 2)
  })
)

it.effect("gives up on a silent provider after its time limit, and tries again", () =>
  Effect.gen(function* () {
    const env = { ...anthropic, BUZZ_AGENT_LLM_TIMEOUT_SECS: "20" }
    const one = yield* scripted(env, "silent", [200, Answers.messages.end])
    const answer = yield* Effect.forkChild(one.ask, { startImmediately: true })
    yield* TestClock.adjust("20 seconds")
    assert.lengthOf(one.requests, 1)
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* Fiber.join(answer)).text, "Done.")
    assert.include(one.lines[0], "provider: request timed out")
  })
)

it.effect("speaks the Responses API where it is at home, where it is asked for, and where it is told to", () =>
  Effect.gen(function* () {
    const told: Act = [404, Answers.chat.refusal("This model is only supported in v1/responses and not here.")]
    const later = yield* scripted(openAi, told, [200, Answers.responses.end], [200, Answers.responses.end])
    yield* later.ask
    yield* later.ask
    const responses = "http://llm.test/v1/responses"
    assert.deepStrictEqual(
      later.requests.map(({ url }) => url),
      ["http://llm.test/v1/chat/completions", responses, responses]
    )
    const chosen = yield* scripted({ ...openAi, OPENAI_COMPAT_API: "responses" }, [200, Answers.responses.end])
    yield* chosen.ask
    assert.strictEqual(chosen.requests[0]?.url, responses)
    const home = yield* scripted({ ...openAi, OPENAI_COMPAT_BASE_URL: "https://eu.api.openai.com/v1" }, [
      200,
      Answers.responses.end
    ])
    yield* home.ask
    assert.strictEqual(home.requests[0]?.url, "https://eu.api.openai.com/v1/responses")
    const stubborn = yield* scripted({ ...openAi, OPENAI_COMPAT_API: "chat" }, told)
    assert.include((yield* Effect.flip(stubborn.ask)).detail, "status 404")
  })
)
