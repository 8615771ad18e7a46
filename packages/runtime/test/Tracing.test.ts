import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import * as RedactingTracer from "@buzz-orchestra/runtime/RedactingTracer"
import * as TraceRedaction from "@buzz-orchestra/runtime/TraceRedaction"
import * as Tracing from "@buzz-orchestra/runtime/Tracing"
import { assert, describe, it } from "@effect/vitest"
import { Cause, ConfigProvider, Effect, Exit, Fiber, Redacted, Tracer } from "effect"
import { FetchHttpClient } from "effect/http"
import { awaitEvent, CHANNEL, LEAD, say, startTrial, trialLayer } from "./support/trial.ts"

/** Keeps every span that was begun. */
const recording = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return { spans, tracer }
}

const parentOf = (span: Tracer.Span): string | undefined =>
  span.parent._tag === "Some" && span.parent.value._tag === "Span" ? span.parent.value.name : undefined

describe("the spans of a trial", () => {
  it.effect("are one trace: phases, turns with their tokens, calls of tools", () => {
    const { spans, tracer } = recording()
    return Effect.gen(function* () {
      const { fiber, options } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const stack = yield* TestStack
      const log = (target: string, message: string) => stack.log("lead-1", target, message)
      yield* log("pool::prompt", `turn starting for channel ${CHANNEL}`)
      yield* log("acp::tool", "tool_call: shell (execute)")
      yield* log("acp::tool", "tool_call_update: t1 → in_progress")
      yield* log("acp::tool", "tool_call_update: t1 → completed")
      yield* log("pool::prompt", `turn complete for channel ${CHANNEL}: end_turn`)
      // Older builds report after the turn.
      yield* log("acp::usage", "goose usage update session_id=s input=Some(70) output=Some(7) cached=50")
      yield* log("pool::prompt", `turn starting for channel ${CHANNEL}`)
      yield* log("acp::usage", "goose usage update session_id=s input=Some(100) output=Some(10) cached=60")
      yield* log("pool::prompt", `turn complete for channel ${CHANNEL}: end_turn`)
      yield* awaitEvent((event) => event._tag === "UsageSeen" && event.inputTokens === 100)
      yield* say(LEAD, "DONE: it is there")
      yield* Fiber.join(fiber)

      const named = (name: string) => spans.filter((span) => span.name === name)
      const [root] = named("Trial.run")
      assert.isDefined(root)
      const traces = new Set(spans.filter((span) => span.name.startsWith("trial.")).map(({ traceId }) => traceId))
      assert.deepStrictEqual([...traces], [root?.traceId])
      assert.deepInclude(Object.fromEntries(root?.attributes ?? []), {
        "buzz.trial_id": options.trialId,
        "buzz.outcome": "done",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10
      })
      const turns = named("turn lead-1")
      assert.deepStrictEqual(
        turns.map(({ attributes }) => [
          attributes.get("buzz.turn"),
          attributes.get("gen_ai.usage.input_tokens"),
          attributes.get("gen_ai.usage.output_tokens"),
          attributes.get("gen_ai.usage.cache_read.input_tokens"),
          attributes.get("buzz.turn.end")
        ]),
        [
          [1, 70, 7, 50, "end_turn"],
          [2, 30, 3, 10, "end_turn"]
        ]
      )
      assert.deepStrictEqual(turns.map(parentOf), ["TrialRuntime.run", "TrialRuntime.run"])
      const [tool] = named("tool shell")
      assert.strictEqual(tool && parentOf(tool), "turn lead-1")
      assert.strictEqual(tool?.attributes.get("buzz.tool.status"), "completed")
      assert.isTrue([...turns, ...named("tool shell")].every(({ status }) => status._tag === "Ended"))
    }).pipe(Effect.provide(trialLayer()), Effect.withTracer(tracer))
  })

  it.effect("end with the trial when a turn does not, and say nothing secret", () => {
    const { spans, tracer } = recording()
    const redactions = TraceRedaction.make()
    return Effect.gen(function* () {
      const secret = Redacted.value(LEAD.secretKey)
      const { fiber } = yield* startTrial({ settleTimeout: 0 })
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const stack = yield* TestStack
      yield* stack.log("lead-1", "pool::prompt", `turn starting for channel ${CHANNEL}`)
      yield* stack.log("lead-1", "acp::tool", `tool_call: echo ${secret} (execute)`)
      yield* awaitEvent((event) => event._tag === "AgentChanged" && event.view._tag === "InTurn")
      yield* stack.die("lead-1", 1)
      yield* Effect.exit(Fiber.join(fiber))
      const turn = spans.find(({ name }) => name === "turn lead-1")
      assert.strictEqual(turn?.status._tag, "Ended")
      assert.strictEqual(turn?.attributes.get("buzz.turn.end"), "ended with the trial")
      const said = spans.map((span) => [
        span.name,
        [...span.attributes],
        span.status._tag === "Ended" && Exit.isFailure(span.status.exit) ? Cause.pretty(span.status.exit.cause) : ""
      ])
      assert.notInclude(JSON.stringify(said), secret)
    }).pipe(
      Effect.provide(trialLayer()),
      Effect.withTracer(RedactingTracer.make(tracer, redactions.apply)),
      Effect.provideService(TraceRedaction.TraceRedaction, redactions)
    )
  })
})

describe("a tracer that redacts", () => {
  it.effect("takes secrets out of names, attributes, events and errors", () => {
    const { spans, tracer } = recording()
    const redact = (text: string) => text.replaceAll("hunter2", "[redacted]")
    const body = Effect.gen(function* () {
      yield* Effect.annotateCurrentSpan({ plain: "hunter2", deep: { list: ["a hunter2 b", 7] } })
      const span = yield* Effect.currentSpan
      span.event("said hunter2", 1n, { text: "hunter2" })
      return yield* Effect.fail(new Error("it is hunter2"))
    })
    return Effect.gen(function* () {
      yield* Effect.exit(Effect.withSpan(body, "call hunter2"))
      yield* Effect.exit(Effect.withSpan(Effect.fail(new Error("harmless")), "other"))
      const [span, other] = spans
      assert.strictEqual(span?.name, "call [redacted]")
      assert.deepStrictEqual(span?.attributes.get("deep"), { list: ["a [redacted] b", 7] })
      assert.deepStrictEqual(span?.events[0], ["said [redacted]", 1n, { text: "[redacted]" }])
      const said = (it: Tracer.NativeSpan | undefined) =>
        it?.status._tag === "Ended" && Exit.isFailure(it.status.exit) ? Cause.pretty(it.status.exit.cause) : ""
      assert.include(said(span), "it is [redacted]")
      assert.notInclude(said(span), "hunter2")
      assert.include(said(other), "harmless")
    }).pipe(Effect.withTracer(RedactingTracer.make(tracer, redact)))
  })

  it.effect("holds what a trial holds, and no longer", () =>
    Effect.gen(function* () {
      const redactions = TraceRedaction.make()
      const held = redactions.hold((text) => text.replaceAll("key", "[redacted]"))
      assert.strictEqual(
        yield* Effect.scoped(Effect.as(held, 0).pipe(Effect.map(() => redactions.apply("a key")))),
        "a [redacted]"
      )
      assert.strictEqual(redactions.apply("a key"), "a key")
    })
  )
})

describe("a collector that the environment names", () => {
  /** What was sent while a span was made in this environment. */
  const sent = Effect.fnUntraced(function* (environment: Record<string, string>) {
    const requests: Array<{ readonly url: string; readonly text: string }> = []
    const fetch: typeof globalThis.fetch = async (url, init) => {
      requests.push({ url: String(url), text: await new Response(init?.body ?? "").text() })
      return new Response()
    }
    const redactions = TraceRedaction.make()
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* redactions.hold((text) => text.replaceAll("hunter2", "[redacted]"))
        yield* Effect.void.pipe(
          Effect.withSpan("a span", { attributes: { password: "hunter2" } }),
          Effect.provide(Tracing.layer("1.2.3"))
        )
      })
    ).pipe(
      Effect.provideService(FetchHttpClient.Fetch, fetch),
      Effect.provideService(TraceRedaction.TraceRedaction, redactions),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(environment))
    )
    return requests
  })

  it.live("is sent the spans, without what must not be said", () =>
    Effect.gen(function* () {
      const [request, ...others] = yield* sent({
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json"
      })
      assert.deepStrictEqual(others, [])
      assert.strictEqual(request?.url, "http://collector:4318/v1/traces")
      for (const part of ["a span", "[redacted]", "buzz-orchestra", "1.2.3"]) assert.include(request?.text ?? "", part)
      assert.notInclude(request?.text ?? "", "hunter2")
    })
  )

  it.live("is sent nothing where there is none, or where tracing is switched off", () =>
    Effect.gen(function* () {
      const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" }
      assert.deepStrictEqual(yield* sent({}), [])
      assert.deepStrictEqual(yield* sent({ ...endpoint, OTEL_TRACES_EXPORTER: "none" }), [])
      assert.deepStrictEqual(yield* sent({ ...endpoint, OTEL_SDK_DISABLED: "true" }), [])
      assert.strictEqual((yield* sent(endpoint)).length, 1)
    })
  )
})
