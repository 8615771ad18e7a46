import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Queue, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { BuzzClient } from "../src/BuzzClient.ts"
import type { NostrEvent } from "../src/NostrEvent.ts"
import { RelayAuthRefused, RelayError, type RelayReason, RelayRefused, RelayReplyMalformed } from "../src/RelayError.ts"
import { RelayObserver } from "../src/RelayObserver.ts"
import * as RelayObserverLive from "../src/RelayObserverLive.ts"
import { Schnorr } from "../src/Schnorr.ts"
import { signedBy, testIdentity } from "../src/testing/TestIdentity.ts"
import { dialled, type ScriptedSocket, ScriptedSockets } from "./ScriptedSockets.ts"

const CHANNEL = "channel"
const user = testIdentity(1)
const lead = testIdentity(2)
const actor = { relayUrl: "ws://relay", identity: user }
const url = "ws://relay"

const message = (content: string, created_at = 1_700_000_000) =>
  signedBy(lead, { kind: 9, created_at, tags: [["h", CHANNEL]], content })

/** What the next readings of the channel return; the last one stays. */
type Readings = ReadonlyArray<ReadonlyArray<NostrEvent> | RelayReason | "hang">

const servicesWith = (readings: Readings) => {
  const left = [...readings]
  const client = Layer.mock(BuzzClient, {
    readChannel: () =>
      Effect.suspend(() => {
        const next = (left.length > 1 ? left.shift() : left[0]) ?? []
        if (next === "hang") return Effect.never
        return "_tag" in next
          ? Effect.fail(new RelayError({ operation: "readChannel", reason: next }))
          : Effect.succeed(next)
      })
  })
  return RelayObserverLive.layer.pipe(
    Layer.provideMerge(ScriptedSockets.layer),
    Layer.provide(Layer.merge(client, Schnorr.layerPure))
  )
}

const begin = Effect.gen(function* () {
  const observer = yield* RelayObserver
  const observing = yield* Effect.forkChild(Effect.result(observer.observe({ actor, channelId: CHANNEL })), {
    startImmediately: true
  })
  const socket = yield* dialled
  yield* socket.authenticate
  assert.deepStrictEqual(yield* socket.next, [
    "REQ",
    "channel",
    { kinds: [9, 40_002, 40_003, 5, 9005], "#h": [CHANNEL], limit: 1 }
  ])
  return { observing, socket }
})

const observed = Effect.gen(function* () {
  const { observing, socket } = yield* begin
  yield* socket.say(["EOSE", "channel"])
  const observation = yield* Effect.fromResult(yield* Fiber.join(observing))
  const contents = yield* Queue.unbounded<string, unknown>()
  yield* observation.events.pipe(
    Stream.runForEach(({ content }) => Queue.offer(contents, content)),
    Effect.catch((error) => Queue.fail(contents, error)),
    Effect.forkScoped({ startImmediately: true })
  )
  return { observation, contents, socket }
})

const reconnected = Effect.gen(function* () {
  const next = yield* Effect.forkChild(dialled, { startImmediately: true })
  while (next.pollUnsafe() === undefined) yield* TestClock.adjust("100 millis")
  const socket = yield* Fiber.join(next)
  yield* socket.authenticate
  yield* socket.next
  return socket
})

const event = (socket: ScriptedSocket, event: unknown) => socket.say(["EVENT", "channel", event])

const test = <A, E>(readings: Readings, effect: Effect.Effect<A, E, RelayObserver | ScriptedSockets | Scope.Scope>) =>
  Effect.provide(Effect.scoped(effect), servicesWith(readings))

describe("observe", () => {
  it.effect("shows what verifies and belongs to the channel, once", () =>
    test(
      [[message("old")]],
      Effect.gen(function* () {
        const { contents, socket } = yield* observed
        yield* event(socket, { ...message("signed"), content: "forged" })
        yield* event(socket, { ...message("by the lead"), pubkey: user.pubkey })
        yield* event(socket, signedBy(lead, { kind: 9, tags: [["h", "other"]], content: "elsewhere" }))
        yield* event(socket, message("old"))
        yield* event(socket, message("new"))
        yield* event(socket, message("new"))
        yield* event(socket, message("last"))
        assert.deepStrictEqual(yield* Queue.takeN(contents, 3), ["old", "new", "last"])
      })
    )
  )

  it.effect("closes its socket with the scope it was opened in, not with the layer's", () =>
    test(
      [[]],
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const { socket } = yield* observed.pipe(Scope.provide(scope))
        assert.strictEqual(socket.readyState, 1)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(socket.readyState, 3)
      })
    )
  )

  it.effect("merges what was missed before what arrives after a reconnect", () =>
    test(
      [[], [message("missed")]],
      Effect.gen(function* () {
        const { contents, socket } = yield* observed
        yield* socket.drop()
        const again = yield* reconnected
        yield* event(again, message("newest stored"))
        yield* again.say(["EOSE", "channel"])
        assert.deepStrictEqual(yield* Queue.takeN(contents, 2), ["missed", "newest stored"])
      })
    )
  )

  it.effect("waits some seconds for a relay that is not there yet, and then says so", () =>
    test(
      [[]],
      Effect.gen(function* () {
        const observer = yield* RelayObserver
        const observing = yield* Effect.forkChild(Effect.flip(observer.observe({ actor, channelId: CHANNEL })), {
          startImmediately: true
        })
        const refusing = yield* Effect.forkChild(Effect.forever(Effect.flatMap(dialled, (socket) => socket.drop())), {
          startImmediately: true
        })
        yield* TestClock.adjust("7 seconds")
        assert.isUndefined(observing.pollUnsafe())
        yield* TestClock.adjust("10 seconds")
        const error = yield* Fiber.join(observing)
        assert.strictEqual(error.reason._tag, "RelayUnreachable")
        yield* Fiber.interrupt(refusing)
      })
    )
  )

  it.effect("reads the channel although the relay never ends the stored events, and what a subscription lost", () =>
    test(
      [[message("old")], [message("old"), message("lost")]],
      Effect.gen(function* () {
        const { observing } = yield* begin
        yield* TestClock.adjust("30 seconds")
        const observation = yield* Effect.fromResult(yield* Fiber.join(observing))
        assert.lengthOf(yield* observation.seen, 1)
        yield* TestClock.adjust("30 seconds")
        assert.deepStrictEqual(
          (yield* observation.seen).map(({ content }) => content),
          ["old", "lost"]
        )
      })
    )
  )

  it.effect("does not wait for ever for a relay that does not let the channel be read", () =>
    test(
      ["hang"],
      Effect.gen(function* () {
        const { observing, socket } = yield* begin
        for (let seconds = 0; seconds < 120; seconds += 5) {
          assert.isUndefined(observing.pollUnsafe())
          yield* socket.say(["NOTICE", "busy"])
          yield* TestClock.adjust("5 seconds")
        }
        const error = yield* Effect.flip(Effect.fromResult(yield* Fiber.join(observing)))
        assert.include(error.message, "no end of the channel's history")
      })
    )
  )

  it.effect("fails when the first reading does", () =>
    test(
      [new RelayReplyMalformed({ url, detail: "<html>" })],
      Effect.gen(function* () {
        const { observing, socket } = yield* begin
        yield* socket.say(["EOSE", "channel"])
        const error = yield* Effect.flip(Effect.fromResult(yield* Fiber.join(observing)))
        assert.strictEqual(error.reason._tag, "RelayReplyMalformed")
      })
    )
  )

  it.effect("fails when the relay does not let this user read the channel", () =>
    test(
      [[]],
      Effect.gen(function* () {
        const { observing, socket } = yield* begin
        yield* socket.say(["CLOSED", "channel", "restricted: not a channel member"])
        const error = yield* Effect.flip(Effect.fromResult(yield* Fiber.join(observing)))
        assert.strictEqual(error.reason._tag, "RelayRefused")
      })
    )
  )

  it.effect("waits for a relay that was there once, whatever its proxy says meanwhile", () =>
    test(
      [
        [],
        new RelayReplyMalformed({ url, detail: "<html>" }),
        new RelayRefused({ url, status: 500, detail: "internal server error" }),
        [message("missed")]
      ],
      Effect.gen(function* () {
        const { contents, socket } = yield* observed
        yield* socket.drop()
        yield* (yield* reconnected).say(["EOSE", "channel"])
        const missed = yield* Effect.forkChild(Queue.take(contents), { startImmediately: true })
        while (missed.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* Fiber.join(missed), "missed")
      })
    )
  )

  it.effect("is not ended by a refusal that the relay takes back", () =>
    test(
      [[], new RelayRefused({ url, status: 403, detail: "restricted: not a channel member" }), [message("missed")]],
      Effect.gen(function* () {
        const { contents, socket } = yield* observed
        yield* socket.drop()
        yield* (yield* reconnected).say(["EOSE", "channel"])
        const missed = yield* Effect.forkChild(Queue.take(contents), { startImmediately: true })
        while (missed.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* Fiber.join(missed), "missed")
      })
    )
  )

  it.effect("ends when the relay's rules do, and says so to everyone who waits", () =>
    test(
      [
        [message("old")],
        ...Array.from(
          { length: 5 },
          () => new RelayAuthRefused({ url, pubkey: user.pubkey, detail: "relay_membership_required" })
        )
      ],
      Effect.gen(function* () {
        const { observation, contents, socket } = yield* observed
        const waiting = yield* Effect.forkChild(
          Effect.flip(observation.awaitDone({ orchestrator: lead.pubkey, after: "task" })),
          { startImmediately: true }
        )
        yield* socket.drop()
        yield* (yield* reconnected).say(["EOSE", "channel"])
        while (waiting.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.join(waiting)).reason._tag, "RelayAuthRefused")
        assert.strictEqual(yield* Queue.take(contents), "old")
        assert.include(String(yield* Effect.flip(Queue.take(contents))), "relay_membership_required")
        assert.deepStrictEqual(
          (yield* observation.seen).map(({ content }) => content),
          ["old"]
        )
      })
    )
  )

  it.effect("ends when the user is removed from the channel", () =>
    test(
      [[]],
      Effect.gen(function* () {
        const { contents, socket } = yield* observed
        yield* socket.say(["CLOSED", "channel", "restricted: channel access revoked"])
        assert.include(String(yield* Effect.flip(Queue.take(contents))), "channel access revoked")
      })
    )
  )
})

describe("awaitDone", () => {
  it.effect("takes a DONE: that was missed together with the task in the same second, whichever id is smaller", () =>
    Effect.forEach(
      ["a", "b", "c", "d", "e", "f"],
      (salt) => {
        const task = signedBy(user, { kind: 9, tags: [["h", CHANNEL]], content: `task ${salt}` })
        const done = message("DONE: in the same second", task.created_at)
        return test(
          [[], [task, done]],
          Effect.gen(function* () {
            const { observation, socket } = yield* observed
            yield* socket.drop()
            yield* (yield* reconnected).say(["EOSE", "channel"])
            const found = yield* observation.awaitDone({ orchestrator: lead.pubkey, after: task.id })
            assert.strictEqual(found.id, done.id)
          })
        )
      },
      { discard: true }
    )
  )

  it.effect("does not take a forged DONE:", () =>
    test(
      [[]],
      Effect.gen(function* () {
        const { observation, socket } = yield* observed
        const task = signedBy(user, { kind: 9, tags: [["h", CHANNEL]], content: "task" })
        yield* event(socket, task)
        const worker = signedBy(testIdentity(3), { kind: 9, tags: [["h", CHANNEL]], content: "DONE: forged" })
        yield* event(socket, { ...worker, pubkey: lead.pubkey })
        yield* event(socket, { ...message("not yet"), content: "DONE: forged" })
        yield* event(socket, message("DONE: real"))
        const found = yield* observation.awaitDone({ orchestrator: lead.pubkey, after: task.id })
        assert.strictEqual(found.content, "DONE: real")
      })
    )
  )

  it.effect("fails with the end of the observation", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { observation } = yield* Scope.provide(observed, scope)
      const waiting = yield* Effect.forkChild(
        Effect.flip(observation.awaitDone({ orchestrator: lead.pubkey, after: "task" })),
        { startImmediately: true }
      )
      yield* Scope.close(scope, yield* Effect.exit(Effect.void))
      assert.include((yield* Fiber.join(waiting)).message, "closed")
    }).pipe(Effect.provide(servicesWith([[]])))
  )
})
