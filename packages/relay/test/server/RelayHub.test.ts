import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Layer, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Nip42 from "../../src/Nip42.ts"
import type * as Dispatch from "../../src/server/Dispatch.ts"
import * as Outbox from "../../src/server/Outbox.ts"
import * as RelayHub from "../../src/server/RelayHub.ts"
import * as RelayState from "../../src/server/RelayState.ts"
import { RelayStore, RelayStoreError } from "../../src/server/RelayStore.ts"
import { CHANNEL, createChannel, person, RELAY_URL, RuledRelay, sign, toySchnorr } from "./support.ts"

const { rules } = new RuledRelay()
const URLS = rules.urls

/** A client that keeps what it is sent, and whose socket takes nothing while it is `stuck`. */
const client = () => {
  const it = { frames: new Array<string>(), isCut: false, stuck: false }
  const transport: Dispatch.Transport = {
    write: (frames) => Effect.sync(() => void it.frames.push(...frames)),
    unsentBytes: () => (it.stuck ? Infinity : 0),
    receivedBytes: () => undefined,
    ping: () => {},
    cut: Effect.sync(() => void (it.isCut = true)),
    farewell: Effect.void
  }
  return { transport, it }
}

const hubWith = Effect.fnUntraced(function* (maxConnections = 10) {
  const store = yield* RelayStore
  return yield* RelayHub.make(RelayState.empty, { rules, store, maxConnections })
})

/** Lets the hub's own fibers have their turn. */
const settle = TestClock.adjust("1 second")

const stores = Layer.merge(NodeCrypto.layerSecureRandom, RelayStore.layerMemory)

layer(stores)("RelayHub", (it) => {
  it.effect("greets every connection with a challenge of its own", () =>
    Effect.gen(function* () {
      const hub = yield* hubWith()
      const [first, second] = [client(), client()]
      yield* hub.connect(first.transport, URLS)
      yield* hub.connect(second.transport, URLS)
      yield* settle
      for (const { it } of [first, second]) {
        assert.strictEqual(it.frames.length, 1)
        assert.match(it.frames[0] ?? "", /^\["AUTH","[0-9a-f]{64}"\]$/)
      }
      assert.notStrictEqual(first.it.frames[0], second.it.frames[0])
    })
  )

  it.effect("gives up on a connection that takes nothing, the third time in a row that its outbox is full", () =>
    Effect.gen(function* () {
      const hub = yield* hubWith()
      const { it, transport } = client()
      it.stuck = true
      const connection = yield* hub.connect(transport, URLS)
      const overflow = (times: number) =>
        Effect.repeat(Effect.forkChild(connection.receive(`["CLOSE","s"]`), { startImmediately: true }), {
          times: times - 1
        })
      yield* overflow(Outbox.CAPACITY + Outbox.TOLERATED_OVERFLOWS - 1)
      yield* settle
      assert.isFalse(it.isCut)
      yield* overflow(1)
      yield* settle
      assert.isTrue(it.isCut)
    })
  )

  it.effect("has a place for so many connections and no more", () =>
    Effect.gen(function* () {
      const hub = yield* hubWith(2)
      const scope = yield* Scope.make()
      assert.isTrue(yield* Scope.provide(hub.admit, scope))
      assert.isTrue(yield* hub.admit)
      assert.isFalse(yield* hub.admit)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(yield* hub.admit)
    })
  )

  it.effect("tells nobody of what could not be saved, and goes on as if it had not come", () =>
    Effect.gen(function* () {
      const store = yield* RelayStore
      const relay = new RuledRelay()
      const ada = person("ada")
      const broken = new RelayStoreError({ directory: "/data", operation: "write", detail: "database or disk is full" })
      let isFull = true
      const hub = yield* RelayHub.make(RelayState.empty, {
        rules: relay.rules,
        maxConnections: 10,
        store: { ...store, commit: (changes) => (isFull ? Result.fail(broken) : store.commit(changes)) }
      })
      const { it, transport } = client()
      const connection = yield* hub.connect(transport, URLS)
      yield* settle
      const [, challenge] = JSON.parse(it.frames[0] ?? "") as [string, string]
      const now = yield* Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1000))
      const say = (...frame: ReadonlyArray<unknown>) => connection.receive(JSON.stringify(frame))
      yield* say("AUTH", Nip42.authEvent(toySchnorr, ada, { relayUrl: RELAY_URL, challenge, now }))
      yield* say("REQ", "s", { kinds: [9], "#h": [CHANNEL] })
      const event = sign(ada, { ...createChannel(CHANNEL, "open"), created_at: now })
      yield* say("EVENT", event)
      isFull = false
      yield* say("EVENT", event)
      yield* settle
      assert.deepStrictEqual(
        it.frames.filter((frame) => frame.includes(event.id) && frame.startsWith('["OK"')),
        [`["OK","${event.id}",false,"error: internal server error"]`, `["OK","${event.id}",true,""]`]
      )
      assert.deepStrictEqual(
        (yield* store.load).channels.map(({ id }) => id),
        [CHANNEL]
      )
    })
  )

  it.effect("asks for a sign of life every half minute, and ends a connection that owes three", () =>
    Effect.gen(function* () {
      const hub = yield* hubWith()
      const [living, silent] = [client(), client()]
      const pings: Array<string> = []
      let heard = 0
      yield* hub.connect(
        { ...living.transport, receivedBytes: () => heard, ping: () => void (heard += pings.push("living")) },
        URLS
      )
      yield* hub.connect({ ...silent.transport, receivedBytes: () => 0, ping: () => void pings.push("silent") }, URLS)
      yield* settle
      assert.deepStrictEqual(pings, ["living", "silent"])
      yield* TestClock.adjust("60 seconds")
      assert.isFalse(silent.it.isCut)
      yield* TestClock.adjust("30 seconds")
      assert.isTrue(silent.it.isCut)
      assert.isFalse(living.it.isCut)
      assert.strictEqual(pings.filter((name) => name === "living").length, 4)
    })
  )

  it.effect("takes nobody while it shuts down, and has shut down when the last connection has ended", () =>
    Effect.gen(function* () {
      const hub = yield* hubWith()
      const order: Array<string> = []
      const hungUp = yield* Deferred.make<void>()
      const polite = { ...client().transport, farewell: Effect.asVoid(Deferred.succeed(hungUp, undefined)) }
      yield* Effect.forkChild(
        hub
          .connect(polite, URLS)
          .pipe(
            Effect.andThen(Deferred.await(hungUp)),
            Effect.andThen(Effect.sync(() => order.push("ended"))),
            Effect.scoped
          ),
        { startImmediately: true }
      )
      yield* hub.shutdown
      order.push("shut down")
      assert.deepStrictEqual(order, ["ended", "shut down"])
      assert.isTrue(hub.isClosing())
      assert.isFalse(yield* hub.admit)
    })
  )
})
