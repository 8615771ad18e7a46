import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Outbox from "../../src/server/Outbox.ts"
import * as RelayHub from "../../src/server/RelayHub.ts"
import { RuledRelay } from "./support.ts"

const { rules } = new RuledRelay()

layer(NodeCrypto.layerSecureRandom)("RelayHub", (it) => {
  it.effect("greets every connection with a challenge of its own", () =>
    Effect.gen(function* () {
      const hub = yield* RelayHub.make(rules)
      const greetings = yield* Effect.forEach([1, 2], () => Effect.flatMap(hub.connect, ({ outbox }) => outbox.take))
      for (const [greeting, ...others] of greetings) {
        assert.match(greeting ?? "", /^\["AUTH","[0-9a-f]{64}"\]$/)
        assert.deepStrictEqual(others, [])
      }
      assert.notStrictEqual(greetings[0]?.[0], greetings[1]?.[0])
    })
  )

  it.effect("gives up on a connection that takes nothing", () =>
    Effect.gen(function* () {
      const hub = yield* RelayHub.make(rules)
      const connection = yield* hub.connect
      yield* Effect.repeat(connection.receive("nonsense"), { times: Outbox.CAPACITY })
      assert.strictEqual(yield* connection.mustEnd, "too-slow")
    })
  )

  it.effect("asks those who come while it shuts down to leave at once", () =>
    Effect.gen(function* () {
      const hub = yield* RelayHub.make(rules)
      yield* hub.shutdown
      const late = yield* hub.connect
      assert.strictEqual(yield* late.mustEnd, "shutdown")
    })
  )

  it.effect("has shut down when the last connection has ended", () =>
    Effect.gen(function* () {
      const hub = yield* RelayHub.make(rules)
      const order: Array<string> = []
      const session = hub.connect.pipe(
        Effect.flatMap(({ mustEnd }) => mustEnd),
        Effect.andThen(Effect.sync(() => order.push("ended"))),
        Effect.scoped
      )
      yield* Effect.forkChild(session, { startImmediately: true })
      yield* hub.shutdown
      order.push("shut down")
      assert.deepStrictEqual(order, ["ended", "shut down"])
    })
  )
})
