import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Layer, Queue, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { NostrEvent } from "../src/NostrEvent.ts"
import * as RelayConnection from "../src/RelayConnection.ts"
import { Schnorr } from "../src/Schnorr.ts"
import { signedBy, testIdentity } from "../src/testing/TestIdentity.ts"
import { dialled, type ScriptedSocket, ScriptedSockets } from "./ScriptedSockets.ts"

const identity = testIdentity(2)
const services = Layer.merge(Schnorr.layerPure, ScriptedSockets.layer)
const options = { url: "http://relay:3000/", identity }
const message = (content: string) => signedBy(testIdentity(3), { kind: 9, tags: [["h", "channel"]], content })

/** A connection that is ready, and the relay's end of it. */
const connected = Effect.gen(function* () {
  const opening = yield* Effect.forkChild(RelayConnection.open(options), { startImmediately: true })
  const socket = yield* dialled
  yield* socket.authenticate
  const connection = yield* Fiber.join(opening)
  return { connection, socket }
})

/** Everything that a subscription brings, as it comes. */
const collect = (connection: RelayConnection.RelayConnection, id = "s") =>
  Effect.gen(function* () {
    const items = yield* Queue.unbounded<string, unknown>()
    yield* connection.subscribe(id, [{ kinds: [9] }]).pipe(
      Stream.map((item) => (item._tag === "Event" ? item.event.content : item._tag)),
      Stream.runForEach((item) => Queue.offer(items, item)),
      Effect.catch((error) => Queue.fail(items, error)),
      Effect.forkScoped({ startImmediately: true })
    )
    return items
  })

/** Goes through the back-off of a lost connection to the next socket. */
const redialled = Effect.gen(function* () {
  const next = yield* Effect.forkChild(dialled, { startImmediately: true })
  while (next.pollUnsafe() === undefined) yield* TestClock.adjust("100 millis")
  return yield* Fiber.join(next)
})

const answerOk = (socket: ScriptedSocket, frame: ReadonlyArray<unknown>, accepted = true, text = "") =>
  socket.say(["OK", (frame[1] as NostrEvent).id, accepted, text])

const test = <A, E>(
  effect: Effect.Effect<A, E, Schnorr | ScriptedSockets | Scope.Scope | Layer.Success<typeof services>>
) => Effect.provide(Effect.scoped(effect), services)

describe("open", () => {
  it.effect("dials the WebSocket view and answers the challenge for it", () =>
    test(
      Effect.gen(function* () {
        const opening = yield* Effect.forkChild(RelayConnection.open(options), { startImmediately: true })
        const socket = yield* dialled
        assert.strictEqual(socket.url, "ws://relay:3000")
        const answer = yield* socket.authenticate
        assert.deepInclude(answer.tags, ["relay", "ws://relay:3000"])
        assert.deepInclude(answer.tags, ["challenge", "challenge"])
        yield* Fiber.join(opening)
      })
    )
  )

  it.effect("fails when the first attempt does", () =>
    test(
      Effect.gen(function* () {
        const opening = yield* Effect.forkChild(Effect.flip(RelayConnection.open(options)), { startImmediately: true })
        yield* (yield* dialled).drop()
        const error = yield* Fiber.join(opening)
        assert.strictEqual(error.reason._tag, "RelayUnreachable")
        assert.include(error.message, "1006")
      })
    )
  )

  it.effect("fails when the relay does not take the identity", () =>
    test(
      Effect.gen(function* () {
        const opening = yield* Effect.forkChild(Effect.flip(RelayConnection.open(options)), { startImmediately: true })
        const socket = yield* dialled
        yield* socket.open
        yield* socket.say(["AUTH", "challenge"])
        yield* answerOk(socket, yield* socket.next, false, "restricted: not a relay member")
        const { reason } = yield* Fiber.join(opening)
        assert.strictEqual(reason._tag, "RelayAuthRefused")
        assert.deepInclude(reason, { pubkey: identity.pubkey, detail: "restricted: not a relay member" })
      })
    )
  )

  it.effect("refuses a URL that is no relay's", () =>
    test(
      Effect.gen(function* () {
        const error = yield* Effect.flip(RelayConnection.open({ ...options, url: "ftp://relay" }))
        assert.strictEqual(error.reason._tag, "RelayUrlInvalid")
      })
    )
  )

  it.effect("closes the socket with its scope", () =>
    test(
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const { socket } = yield* Scope.provide(connected, scope)
        assert.strictEqual(socket.readyState, 1)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(socket.readyState, 3)
      })
    )
  )
})

describe("subscribe", () => {
  it.effect("delivers what verifies and nothing else", () =>
    test(
      Effect.gen(function* () {
        const { connection, socket } = yield* connected
        const items = yield* collect(connection)
        assert.deepStrictEqual(yield* socket.next, ["REQ", "s", { kinds: [9] }])
        yield* socket.say(["EVENT", "s", { ...message("forged"), content: "other" }])
        yield* socket.say(["EVENT", "s", { no: "event" }])
        yield* socket.say("not json")
        yield* socket.say(["EVENT", "s", message("good")])
        yield* socket.say(["EOSE", "s"])
        assert.deepStrictEqual(yield* Queue.takeN(items, 3), ["Requested", "good", "EndOfStored"])
      })
    )
  )

  it.effect("goes on over a lost connection, asking for its filters again", () =>
    test(
      Effect.gen(function* () {
        const { connection, socket } = yield* connected
        let since = 0
        const items = yield* Queue.unbounded<string>()
        yield* connection
          .subscribe("s", () => [{ kinds: [9], since: since++ }])
          .pipe(
            Stream.runForEach((item) => Queue.offer(items, item._tag)),
            Effect.forkScoped({ startImmediately: true })
          )
        assert.deepStrictEqual(yield* socket.next, ["REQ", "s", { kinds: [9], since: 0 }])
        yield* socket.drop()
        const again = yield* redialled
        yield* again.authenticate
        assert.deepStrictEqual(yield* again.next, ["REQ", "s", { kinds: [9], since: 1 }])
        assert.deepStrictEqual(yield* Queue.takeN(items, 2), ["Requested", "Requested"])
      })
    )
  )

  it.effect("fails when a rule of the relay closes it", () =>
    test(
      Effect.gen(function* () {
        const { connection, socket } = yield* connected
        const items = yield* collect(connection)
        yield* socket.next
        yield* socket.say(["CLOSED", "s", "restricted: not a channel member"])
        assert.strictEqual(yield* Queue.take(items), "Requested")
        const error = yield* Effect.flip(Queue.take(items))
        assert.include(String(error), "restricted: not a channel member")
      })
    )
  )

  it.effect("tells the relay when it ends, and never waits for that, connected or not", () =>
    test(
      Effect.gen(function* () {
        const { connection, socket } = yield* connected
        const take = connection.subscribe("s", [{ kinds: [9] }]).pipe(Stream.take(1), Stream.runDrain)
        yield* take
        assert.deepStrictEqual(
          [yield* socket.next, yield* socket.next],
          [
            ["REQ", "s", { kinds: [9] }],
            ["CLOSE", "s"]
          ]
        )
        const open = yield* Effect.forkChild(connection.subscribe("t", []).pipe(Stream.runDrain), {
          startImmediately: true
        })
        yield* socket.drop()
        yield* Fiber.interrupt(open)
      })
    )
  )

  it.effect("ends with its connection", () =>
    test(
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const { connection } = yield* Scope.provide(connected, scope)
        const items = yield* collect(connection)
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* Queue.take(items), "Requested")
        assert.include(String(yield* Effect.flip(Queue.take(items))), "closed")
        assert.include(String(yield* Effect.flip(connection.publish(message("late")))), "closed")
      })
    )
  )
})

describe("publish", () => {
  const event = message("hello")

  it.effect("returns the relay's answer", () =>
    test(
      Effect.gen(function* () {
        const { connection, socket } = yield* connected
        const publishing = yield* Effect.forkChild(connection.publish(event), { startImmediately: true })
        const frame = yield* socket.next
        assert.deepStrictEqual(frame, ["EVENT", event])
        yield* answerOk(socket, frame, false, "invalid: kind")
        assert.deepStrictEqual(yield* Fiber.join(publishing), { accepted: false, message: "invalid: kind" })
      })
    )
  )

  it.effect("sends the same event again when the connection broke before the answer", () =>
    test(
      Effect.gen(function* () {
        const { connection, socket } = yield* connected
        const publishing = yield* Effect.forkChild(connection.publish(event), { startImmediately: true })
        yield* socket.next
        yield* socket.drop()
        const again = yield* redialled
        yield* again.authenticate
        const frame = yield* again.next
        assert.deepStrictEqual(frame, ["EVENT", event])
        yield* answerOk(again, frame, true, "duplicate:")
        assert.deepStrictEqual(yield* Fiber.join(publishing), { accepted: true, message: "duplicate:" })
      })
    )
  )

  it.effect("does not wait for ever", () =>
    test(
      Effect.gen(function* () {
        const { connection } = yield* connected
        const publishing = yield* Effect.forkChild(Effect.flip(connection.publish(event)), { startImmediately: true })
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual((yield* Fiber.join(publishing)).reason._tag, "RelayUnreachable")
      })
    )
  )

  it.effect("refuses a frame for which the relay would drop the connection", () =>
    test(
      Effect.gen(function* () {
        const { connection } = yield* connected
        const error = yield* Effect.flip(connection.publish(message("x".repeat(65_536))))
        assert.include(error.message, "publish it over HTTP")
      })
    )
  )
})

describe("the connection", () => {
  it.effect("drops a relay that gives no sign of life, and reports what it does", () =>
    test(
      Effect.gen(function* () {
        const { connection, socket } = yield* connected
        const statuses = yield* Queue.unbounded<string>()
        yield* connection.status.pipe(
          Stream.runForEach(({ _tag, attempt }) => Queue.offer(statuses, `${_tag} ${attempt}`)),
          Effect.forkScoped({ startImmediately: true })
        )
        assert.strictEqual(yield* Queue.take(statuses), "Connected 1")
        yield* TestClock.adjust("16 seconds")
        const probe = yield* socket.next
        assert.strictEqual(probe[0], "REQ")
        yield* TestClock.adjust("11 seconds")
        assert.strictEqual(yield* Queue.take(statuses), "Reconnecting 2")
        yield* (yield* redialled).authenticate
        assert.strictEqual(yield* Queue.take(statuses), "Connected 2")
      })
    )
  )

  it.effect("waits longer after each failure, and not for long after a success", () =>
    test(
      Effect.gen(function* () {
        const { socket } = yield* connected
        const waits: Array<number> = []
        let current = socket
        for (let n = 0; n < 12; n++) {
          yield* current.drop()
          const before = yield* Clock.currentTimeMillis
          current = yield* redialled
          waits.push((yield* Clock.currentTimeMillis) - before)
        }
        assert.isBelow(waits[0] ?? 0, 401)
        assert.isAbove(waits.at(-1) ?? 0, 9_999)
        assert.isBelow(waits.at(-1) ?? 0, 15_101)
        yield* current.authenticate
        yield* current.drop()
        const before = yield* Clock.currentTimeMillis
        yield* redialled
        assert.isBelow((yield* Clock.currentTimeMillis) - before, 401)
      })
    )
  )
})
