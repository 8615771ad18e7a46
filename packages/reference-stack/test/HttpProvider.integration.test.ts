// @module-tag thorough
import * as AgentConfig from "@buzz-orchestra/reference-stack/buzz-agent/AgentConfig"
import * as HttpProvider from "@buzz-orchestra/reference-stack/buzz-agent/HttpProvider"
import { TracingLog } from "@buzz-orchestra/reference-stack/TracingLog"
import { assert, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as Answers from "./providerAnswers.ts"

/** What each provider is told, what it answers, and where the result of its call stands in the next request. */
const FORMS = [
  {
    env: (url: string) => ({
      BUZZ_AGENT_PROVIDER: "anthropic",
      ANTHROPIC_API_KEY: "sk-secret",
      ANTHROPIC_BASE_URL: url
    }),
    path: "/v1/messages",
    answers: Answers.messages,
    result: (body: any) => body.messages[2].content[0].content[0].text
  },
  {
    env: (url: string) => ({
      BUZZ_AGENT_PROVIDER: "openai",
      OPENAI_COMPAT_API_KEY: "sk-secret",
      OPENAI_COMPAT_BASE_URL: `${url}/v1`
    }),
    path: "/v1/chat/completions",
    answers: Answers.chat,
    result: (body: any) => body.messages[3].content
  },
  {
    env: (url: string) => ({
      BUZZ_AGENT_PROVIDER: "openai-compat",
      OPENAI_COMPAT_API: "responses",
      OPENAI_COMPAT_API_KEY: "sk-secret",
      OPENAI_COMPAT_BASE_URL: `${url}/v1`
    }),
    path: "/v1/responses",
    answers: Answers.responses,
    result: (body: any) => body.input[3].output
  }
]

it.live.each(FORMS)("$path: a prompt, a call, its result, and the end, over HTTP", ({ answers, env, path, result }) =>
  Effect.gen(function* () {
    const { requests, url } = yield* Answers.serve([answers.call, answers.end])
    const { limits, provider } = Result.getOrThrow(AgentConfig.parse({ ...env(url), BUZZ_AGENT_MODEL: "m" }))
    if (provider._tag === "Scripted") return yield* Effect.die("not an HTTP provider")
    const log = TracingLog.layerWith({ filter: [], ansi: false, write: () => {} })
    const begin = yield* Effect.provide(HttpProvider.make(provider, limits), log)
    const said: Array<string> = []
    const conversation = begin({
      toolbox: {
        tools: [{ name: "dev__shell", description: "Runs a command.", inputSchema: { type: "object" } }],
        find: () => undefined,
        call: (name, args) => Effect.succeed({ text: `${name} ran ${String(args["command"])}`, isError: false })
      },
      client: {
        say: (text) => Effect.sync(() => void said.push(text)),
        toolStarted: () => Effect.void,
        toolEnded: () => Effect.void,
        cost: () => Effect.void,
        keepAlive: Effect.void
      },
      faults: { crash: Effect.never, ignoreTerm: Effect.void },
      systemPrompt: "",
      maxRounds: 0
    })
    assert.strictEqual(yield* Effect.timeout(conversation.answer("go"), "10 seconds"), "end_turn")
    assert.strictEqual(said.at(-1), "Done.")
    assert.deepStrictEqual(
      requests.map((request) => request.url),
      [path, path]
    )
    assert.strictEqual(result(requests[1]?.body), "dev__shell ran ls")
    assert.include(JSON.stringify(requests[0]?.headers), "sk-secret")
    assert.notInclude(JSON.stringify(requests[0]?.body), "sk-secret")
  })
)
