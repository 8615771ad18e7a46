/** The relay as a real sandbox sees it, which has this machine's network. */
import { NodeServices } from "@effect/platform-node"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type AddressInfo, createServer, type Server } from "node:net"
import { ownerOfPort } from "../src/internal/portOwner.ts"
import { askRelay, DEAD_RELAY } from "./support/relay.ts"

const listening = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = createServer().listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close())
)

describe("in a local sandbox", () => {
  it.live("a relay that is not there ends the phase, and who holds a port of this machine is found out", () =>
    Effect.gen(function* () {
      const server = yield* listening
      const silent = yield* Effect.flip(askRelay(DEAD_RELAY))
      assert.deepInclude(silent, { _tag: "RelayNotAnswering", through: "nothing", detail: "Connection refused" })
      const { port } = server.address() as AddressInfo
      assert.include(yield* ownerOfPort(`127.0.0.1:${port}`), `process ${process.pid} of this machine (`)
      assert.isUndefined(yield* ownerOfPort("127.0.0.1:9"))
    }).pipe(Effect.scoped, Effect.provide(LocalEnvironment.layer().pipe(Layer.provideMerge(NodeServices.layer))))
  )
})
