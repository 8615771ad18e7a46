/** Trouble that passes is tried again, at times that no two clients share, and told; an interruption is not trouble. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Random } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { BuzzClient } from "../src/BuzzClient.ts"
import * as BuzzClientNative from "../src/BuzzClientNative.ts"
import { RetryNotice } from "../src/RetryNotice.ts"
import * as SchnorrWasm from "../src/SchnorrWasm.ts"
import { testIdentity } from "../src/testing/TestIdentity.ts"
import { type Answer, notAccepted, accepted, ok, type Respond, scripted } from "./ScriptedHttp.ts"

const actor = { relayUrl: "http://relay", identity: testIdentity(1) }
const CHANNEL = "99999999-8888-4777-8666-555555555555"

/** A call in the background, against a relay that answers like this, with everything that was told of retries. */
const calling = Effect.fnUntraced(function* <A, E>(
  respond: Respond,
  call: (client: BuzzClient["Service"]) => Effect.Effect<A, E>
) {
  const { layer, seen } = scripted(respond)
  const told: Array<{ readonly message: string; readonly pauseMillis: number }> = []
  const notice = ({ message }: { readonly message: string }, pauseMillis: number) =>
    Effect.sync(() => void told.push({ message, pauseMillis }))
  const fiber = yield* BuzzClient.use(call).pipe(
    Effect.provide(
      BuzzClientNative.layer.pipe(Layer.provide(Layer.mergeAll(layer, SchnorrWasm.layer, SecureRandom.layerWebCrypto)))
    ),
    Effect.provideService(RetryNotice, notice),
    Effect.forkChild({ startImmediately: true })
  )
  return { fiber, seen, told }
})

const read = (client: BuzzClient["Service"]) => client.readChannel(actor, CHANNEL)

/** Lets pauses pass until the call has ended. */
const ended = Effect.fnUntraced(function* <A, E>(fiber: Fiber.Fiber<A, E>) {
  while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("100 millis")
  return yield* Fiber.await(fiber)
})

describe("trouble that passes", () => {
  const troubles: ReadonlyArray<readonly [string, Answer, RegExp]> = [
    ["a 429", { status: 429, body: { error: "rate-limited: retry in 0s" } }, /asks to slow down/],
    ["a 503 of a relay that restarts", { status: 503, body: "" }, /no connection to .*: status 503/],
    ["a connection that is refused", "no connection", /ECONNREFUSED/]
  ]
  for (const [what, answer, words] of troubles) {
    it.effect(`${what} is tried again and told`, () =>
      Effect.gen(function* () {
        const { fiber, seen, told } = yield* calling((_, before) => (before.length === 0 ? answer : ok([])), read)
        assert.deepStrictEqual(yield* ended(fiber), Exit.succeed([]))
        assert.strictEqual(seen.length, 2)
        assert.strictEqual(told.length, 1)
        assert.match(told[0]?.message ?? "", words)
      })
    )
  }

  it.effect("an event that was not stored for being one too many is sent again under its id", () =>
    Effect.gen(function* () {
      const { fiber, seen, told } = yield* calling(
        (request, before) =>
          before.length === 0 ? notAccepted(request, "rate-limited: retry in 1s") : accepted(request),
        (client) => client.send(actor, { channelId: CHANNEL, content: "hello" })
      )
      assert.isTrue(Exit.isSuccess(yield* ended(fiber)))
      assert.strictEqual(seen.length, 2)
      assert.strictEqual(seen[0]?.body, seen[1]?.body)
      assert.match(told[0]?.message ?? "", /rate-limited/)
    })
  )

  it.effect("is tried again at times of each client's own", () =>
    Effect.gen(function* () {
      const pausesOf = Effect.fnUntraced(function* (seed: string) {
        const limited: Answer = { status: 429, body: "" }
        const { fiber, told } = yield* calling((_, before) => (before.length < 5 ? limited : ok([])), read)
        yield* ended(fiber)
        assert.strictEqual(told.length, 5, seed)
        return told.map(({ pauseMillis }) => pauseMillis)
      })
      const all = yield* Effect.forEach(["a", "b", "c"], (seed) => Random.withSeed(pausesOf(seed), seed))
      for (const pauses of all)
        pauses.forEach((pause, index) => {
          const base = 1_000 * 2 ** index
          assert.isTrue(pause >= base && pause <= base * 1.5, `${pause} for ${base}`)
        })
      assert.strictEqual(new Set(all.map((pauses) => pauses.join())).size, 3)
    })
  )

  it.effect("is told once for each time, and what the relay decided is not", () =>
    Effect.gen(function* () {
      const refused: Answer = { status: 403, body: { error: "restricted: not a channel member" } }
      const { fiber, seen, told } = yield* calling(() => refused, read)
      assert.isTrue(Exit.isFailure(yield* ended(fiber)))
      assert.strictEqual(seen.length, 1)
      assert.deepStrictEqual(told, [])
    })
  )
})

describe("an interruption", () => {
  it.effect("during a pause ends the call, is no failure, and nothing is tried again", () =>
    Effect.gen(function* () {
      const { fiber, seen } = yield* calling(() => ({ status: 503, body: "" }), read)
      while (seen.length === 0) yield* Effect.yieldNow
      yield* TestClock.adjust("200 millis")
      const tried = seen.length
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.hasInterrupts(exit) && !Exit.hasFails(exit) && !Exit.hasDies(exit))
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(seen.length, tried)
    })
  )

  it.effect("during an attempt ends the call, is no failure, and nothing is tried again", () =>
    Effect.gen(function* () {
      const { fiber, seen, told } = yield* calling(() => "silence", read)
      while (seen.length === 0) yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.hasInterrupts(exit) && !Exit.hasFails(exit) && !Exit.hasDies(exit))
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(seen.length, 1)
      assert.deepStrictEqual(told, [])
    })
  )
})
