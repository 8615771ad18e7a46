import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Logger } from "effect"
import { FetchHttpClient } from "effect/http"
import * as TracingSetup from "../src/TracingSetup.ts"

/** What a program that makes one span sends, and what it logs. */
const run = Effect.fnUntraced(function* (environment: Record<string, string>) {
  const urls: Array<string> = []
  const logged: Array<string> = []
  const fetch: typeof globalThis.fetch = async (url) => {
    urls.push(String(url))
    return new Response()
  }
  const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
  yield* Effect.withSpan(Effect.void, "a span").pipe(
    Effect.provide(TracingSetup.layer("1.2.3")),
    Effect.provide(logger),
    Effect.provideService(FetchHttpClient.Fetch, fetch),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(environment))
  )
  return { urls, logged }
})

describe("tracing of the command", () => {
  it.live("is on where the environment names a collector, and off elsewhere", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run({}), { urls: [], logged: [] })
      assert.deepStrictEqual(yield* run({ OTEL_EXPORTER_OTLP_ENDPOINT: "" }), { urls: [], logged: [] })
      assert.deepStrictEqual(yield* run({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://collector/t" }), {
        urls: ["http://collector/t"],
        logged: []
      })
    })
  )

  it.live("that is set up wrongly is a warning, and ends nothing", () =>
    Effect.gen(function* () {
      const { logged, urls } = yield* run({ OTEL_EXPORTER_OTLP_ENDPOINT: "not a url" })
      assert.deepStrictEqual(urls, [])
      assert.match(logged.join("\n"), /nothing is traced, because the variables OTEL_/)
    })
  )
})
