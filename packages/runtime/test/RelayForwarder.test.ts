import { DEFAULT_LAYOUT } from "@buzz-orchestra/runtime/Layout"
import * as RelayForwarder from "@buzz-orchestra/runtime/RelayForwarder"
import { FORWARDER } from "@buzz-orchestra/runtime/StackFiles"
import { type Answer, exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber } from "effect"
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

/** How far the clock moves at a time: learning how a program ended takes many steps of fibers and no time. */
const STEP_MILLIS = 50

const wholeSeconds = (millis: number) => Math.floor(millis / 1000)

/** Moves the clock until the fiber has ended; returns the milliseconds between the launches. `fails` says which attempts fail. */
const pausesUntil = Effect.fnUntraced(function* (
  starting: Fiber.Fiber<unknown, unknown>,
  fails: (attempt: number) => boolean
) {
  const double = yield* TestStack
  const launchedAt: Array<number> = []
  for (let now = 0; starting.pollUnsafe() === undefined; now += STEP_MILLIS) {
    const { length } = yield* launches
    if (length > launchedAt.length) launchedAt.push(now)
    if (fails(length + 1)) yield* double.failNext(FORWARDER, 1, BUSY)
    yield* TestClock.adjust(STEP_MILLIS)
  }
  if ((yield* launches).length > launchedAt.length) launchedAt.push(yield* Clock.currentTimeMillis)
  return launchedAt.slice(1).map((at, index) => at - (launchedAt[index] ?? 0))
})

const BUSY = 'Error: Os { code: 98, kind: AddrInUse, message: "Address in use" }'

/** The port of the relay, 3600, in an environment where this process has it. */
const portHeldBy =
  (pid: number): Answer =>
  (command) => {
    const listed = `0: 0100007F:0E10 00000000:0000 0A 0:0 00:0 0 0 0 4711\npid ${pid}\nlrwx 1 0 0 64 3 -> socket:[4711]\n`
    if (command.startsWith("cat /proc/net/tcp")) return exited(0, { stdout: listed })
    if (command === `cat /proc/${pid}/cmdline`) return exited(0, { stdout: `${DEFAULT_LAYOUT.bin}/${FORWARDER}\0` })
    return undefined
  }

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
      assert.deepInclude(error, {
        _tag: "BinaryMissing",
        missing: [{ name: FORWARDER, path: `${DEFAULT_LAYOUT.bin}/${FORWARDER}` }]
      })
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("tries again while the port is held, with a longer pause each time", () =>
    Effect.gen(function* () {
      const starting = yield* Effect.forkScoped(start())
      const pauses = yield* pausesUntil(starting, (attempt) => attempt <= 2)
      yield* Fiber.join(starting)
      assert.deepStrictEqual(pauses.map(wholeSeconds), [1, 2])
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("gives up after a bounded number of attempts, and names the address", () =>
    Effect.gen(function* () {
      const starting = yield* Effect.forkScoped(Effect.flip(start()))
      const pauses = yield* pausesUntil(starting, () => true)
      const error = yield* Fiber.join(starting)
      assert.deepInclude(error, { _tag: "ForwarderPortBusy", address: "127.0.0.1:3600", attempts: 6 })
      assert.match(error.message, /could not bind/)
      assert.strictEqual((yield* launches).length, RelayForwarder.BIND_ATTEMPTS)
      assert.deepStrictEqual(pauses.map(wholeSeconds), [1, 2, 3, 4, 5])
    }).pipe(Effect.provide(supervisionLayer()))
  )

  const busyUntil = Effect.fnUntraced(function* (fields: Partial<RelayForwarder.ForwarderOptions>) {
    const starting = yield* Effect.forkScoped(Effect.flip(start(fields)))
    yield* pausesUntil(starting, () => true)
    return yield* Fiber.join(starting)
  })

  it.effect("names who listens there, a forwarder that leads elsewhere among them", () =>
    Effect.gen(function* () {
      const other = yield* start({ keep: true, gateway: "another:1" })
      yield* RecordingEnvironment.use(({ answer }) => answer(portHeldBy(other.pid)))
      const error = yield* busyUntil({ adopt: true })
      assert.strictEqual(error._tag, "ForwarderPortBusy")
      assert.include(error.message, `: process ${other.pid} (${DEFAULT_LAYOUT.bin}/${FORWARDER}) listens there; end it`)
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

  it.effect("is kept for a later trial only when told to, and adopted only when it leads to the same gateway", () =>
    Effect.gen(function* () {
      const first = yield* Effect.scoped(start({ keep: true }))
      const second = yield* start({ adopt: true })
      assert.strictEqual(second.pid, first.pid)
      assert.strictEqual((yield* launches).length, 1)
      const elsewhere = yield* start({ adopt: true, gateway: "another:3600" })
      assert.notStrictEqual(elsewhere.pid, first.pid)
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("is not adopted by a trial that was not told to", () =>
    Effect.gen(function* () {
      const first = yield* Effect.scoped(start({ keep: true }))
      assert.notStrictEqual((yield* start()).pid, first.pid)
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("once adopted is followed: its end is noticed, and the trial's scope ends it", () =>
    Effect.gen(function* () {
      const first = yield* Effect.scoped(start({ keep: true }))
      const { commands } = yield* RecordingEnvironment
      yield* Effect.scoped(start({ adopt: true }))
      const last = (yield* commands).at(-1)?.command
      assert.include(last, `kill -TERM ${first.pid}`)
      const again = yield* start({ adopt: true, keep: true })
      yield* TestStack.use(({ die }) => die(FORWARDER, 143))
      assert.deepInclude(yield* again.end, { signal: "SIGTERM" })
    }).pipe(Effect.provide(supervisionLayer()))
  )
})
