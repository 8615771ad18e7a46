import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as RelayPreflight from "../src/RelayPreflight.ts"

const NOW = 1_800_000_000_000

/** What is said before a trial on a relay whose clock is off by so much, or that does not answer. */
const said = Effect.fnUntraced(function* (offsetSeconds: number | undefined) {
  const lines: Array<string> = []
  const client = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => {
      if (offsetSeconds === undefined) {
        const reason = new HttpClientError.TransportError({ request, cause: new Error("ECONNREFUSED") })
        return Effect.fail(new HttpClientError.HttpClientError({ reason }))
      }
      const date = new Date(NOW + offsetSeconds * 1000).toUTCString()
      return Effect.succeed(HttpClientResponse.fromWeb(request, new Response("", { headers: { date } })))
    })
  )
  yield* TestClock.setTime(NOW)
  const warn = (line: string) => Effect.sync(() => void lines.push(line))
  const result = yield* Effect.result(RelayPreflight.check("ws://relay:3600", warn)).pipe(Effect.provide(client))
  return { lines, failure: result._tag === "Failure" ? result.failure.message : undefined }
})

describe("before a trial on a relay that runs already", () => {
  it.effect("a clock that agrees is not worth a word, nor is a relay that does not answer yet", () =>
    Effect.gen(function* () {
      for (const offset of [0, 3, undefined]) {
        assert.deepStrictEqual(yield* said(offset), { lines: [], failure: undefined })
      }
    })
  )

  it.effect("a clock that is off is told, with what the relay takes", () =>
    Effect.gen(function* () {
      const { failure, lines } = yield* said(20)
      assert.isUndefined(failure)
      assert.match(
        lines.join(),
        /^warning: this machine's clock is 20 s behind .* more than 60 s and events more than 900 s/
      )
    })
  )

  it.effect("a clock by which no signature could be valid ends it", () =>
    Effect.gen(function* () {
      const { failure, lines } = yield* said(-90)
      assert.match(failure ?? "", /clock: this machine's clock is 89 s ahead of that of/)
      assert.deepStrictEqual(lines, [])
    })
  )

  it.effect("a relay inside this command is not asked", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const client = HttpClient.make((_, url) => {
        asked.push(url.href)
        return Effect.die("nobody is to be asked")
      })
      const warn = (line: string) => Effect.sync(() => void asked.push(line))
      yield* Effect.provideService(RelayPreflight.check(undefined, warn), HttpClient.HttpClient, client)
      assert.deepStrictEqual(asked, [])
    })
  )
})
