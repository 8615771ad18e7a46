import { DEFAULT_LAYOUT } from "@buzz-orchestra/runtime/Layout"
import * as RelayForwarder from "@buzz-orchestra/runtime/RelayForwarder"
import { FORWARDER } from "@buzz-orchestra/runtime/StackFiles"
import { RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { openSupervision, supervisionLayer } from "./support/supervision.ts"

const stack = { layout: DEFAULT_LAYOUT, digests: { [FORWARDER]: "0".repeat(64) }, architecture: "x86_64" }

const start = (fields: Partial<RelayForwarder.ForwarderOptions> = {}) =>
  Effect.flatMap(openSupervision, ({ supervision }) =>
    RelayForwarder.start({
      supervision,
      stack,
      relayUrl: "ws://localhost:3600",
      gateway: "host.docker.internal:3600",
      readyWithin: Duration.seconds(60),
      ...fields
    })
  )

const launches = Effect.map(
  RecordingEnvironment.use(({ commands }) => commands),
  (commands) => commands.filter(({ command }) => command.includes(`/bin/${FORWARDER}'`))
)

const BUSY = 'Error: Os { code: 98, kind: AddrInUse, message: "Address in use" }'

describe("RelayForwarder", () => {
  it.effect("listens on the canonical address of the relay and targets the gateway", () =>
    Effect.gen(function* () {
      const running = yield* start()
      const programs = yield* TestStack.use(({ programs }) => programs)
      assert.strictEqual(running.pid, programs.get(FORWARDER)?.pid)
      assert.include(
        programs.get(FORWARDER)?.command,
        "'/opt/buzz/bin/relay-forwarder' '127.0.0.1:3600' 'host.docker.internal:3600'"
      )
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("bridges ws:// only, because a byte bridge cannot end TLS", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(start({ relayUrl: "wss://relay.example" }))
      assert.deepInclude(error, { _tag: "RelayUrlUnusable", neededFor: "forwarder" })
      assert.match(error.message, /ws:\/\//)
      assert.deepStrictEqual(yield* launches, [])
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("needs the program to be installed", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(start({ stack: { ...stack, digests: {} } }))
      assert.deepInclude(error, { _tag: "BinaryMissing", name: FORWARDER })
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("tries again while the port is held, with a longer pause each time", () =>
    Effect.gen(function* () {
      const double = yield* TestStack
      yield* double.failNext(FORWARDER, 1, BUSY)
      const starting = yield* Effect.forkScoped(start())
      yield* TestClock.adjust("1 milli")
      assert.strictEqual((yield* launches).length, 1)
      yield* double.failNext(FORWARDER, 1, BUSY)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* launches).length, 2)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* launches).length, 2)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(starting)
      assert.strictEqual((yield* launches).length, 3)
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("gives up after a bounded number of attempts, and names the address", () =>
    Effect.gen(function* () {
      const double = yield* TestStack
      yield* double.failNext(FORWARDER, 1, BUSY)
      const starting = yield* Effect.forkScoped(Effect.flip(start()))
      for (let attempt = 1; attempt < RelayForwarder.BIND_ATTEMPTS; attempt++) {
        yield* TestClock.adjust("1 milli")
        yield* double.failNext(FORWARDER, 1, BUSY)
        yield* TestClock.adjust(`${attempt} seconds`)
      }
      const error = yield* Fiber.join(starting)
      assert.deepInclude(error, { _tag: "ForwarderPortBusy", address: "127.0.0.1:3600", attempts: 6 })
      assert.match(error.message, /could not bind/)
      assert.strictEqual((yield* launches).length, RelayForwarder.BIND_ATTEMPTS)
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("does not try again after any other failure", () =>
    Effect.gen(function* () {
      yield* TestStack.use((double) => double.failNext(FORWARDER, 1, "Error: permission denied"))
      const error = yield* Effect.flip(start())
      assert.deepInclude(error, { _tag: "ForwarderDied", exitCode: 1 })
      assert.match(error.message, /agent processes exited early: relay-forwarder.*permission denied/)
      assert.strictEqual((yield* launches).length, 1)
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("says so when the program cannot be executed", () =>
    Effect.gen(function* () {
      yield* TestStack.use((double) => double.failNext(FORWARDER, 126, "sh: Exec format error"))
      const error = yield* Effect.flip(start())
      assert.deepInclude(error, { _tag: "ForwarderNotLaunched", exitCode: 126 })
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("fails when it does not report readiness in time, with what it said", () =>
    Effect.gen(function* () {
      const starting = yield* Effect.forkScoped(Effect.flip(start({ readyWithin: Duration.seconds(5) })))
      yield* TestClock.adjust("5 seconds")
      const error = yield* Fiber.join(starting)
      assert.strictEqual(error._tag, "ForwarderNotReady")
      assert.match(error.message, /did not report readiness within 5 s/)
    }).pipe(Effect.provide(supervisionLayer({ stack: { ready: false } })))
  )
})
