/** A loopback service of this machine, seen from a container that has no network. */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import { assert, layer } from "@effect/vitest"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { probeRelay } from "@buzz-orchestra/runtime/RelayProbe"
import { Effect, Layer } from "effect"
import { bridgeRelay } from "../../src/internal/bridgeRelay.ts"
import { ownerOfPort } from "../../src/internal/portOwner.ts"
import { createServer as createHttpServer } from "node:http"
import { type AddressInfo, createServer, type Server } from "node:net"
import { output } from "../support/environment.ts"
import { askRelay, DEAD_RELAY } from "../support/relay.ts"
import { eventually } from "../support/shells.ts"
import { canMake } from "./images/TestImages.ts"
import { containerTests } from "./support/containerTests.ts"
import { engineLayer, environmentOf } from "./support/engine.ts"

const relay = EmbeddedRelay.layer().pipe(
  Layer.provide(NodeHttpServer.layerServer(createHttpServer, { port: 0, host: "127.0.0.1" })),
  Layer.provide(Layer.mergeAll(SchnorrWasm.layer, NodeCrypto.layerSecureRandom))
)

/** Nobody else may enter a container's network. */
const isRoot = process.getuid?.() === 0

/** Answers when the sender has ended, and not before. */
const reverser = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      const parts: Array<Buffer> = []
      socket.on("data", (bytes: Buffer) => parts.push(bytes))
      socket.on("end", () => socket.end(Buffer.concat(parts).toReversed()))
    })
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close())
)

const bridge = Effect.fnUntraced(function* (listen: string, target: string) {
  const { bridge } = yield* EnvironmentService
  if (bridge === undefined) return yield* Effect.die(new Error("the container's network cannot be entered"))
  yield* bridge(listen, target)
})

containerTests("bridge", () => {
  layer(engineLayer, { excludeTestServices: true })((it) => {
    it.effect.skipIf(!isRoot || !canMake.bash)(
      "carries a relay's own address into a container without network, until its scope closes",
      () =>
        Effect.gen(function* () {
          const { url } = yield* EmbeddedRelay
          const { host } = new URL(url)
          assert.deepStrictEqual(yield* probeRelay(url), { _tag: "RelaySilent", detail: "Connection refused" })
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* bridge(host, host)
              assert.deepStrictEqual(yield* probeRelay(url), { _tag: "RelayAnswered", handshake: true })
              const { bridge: again = () => Effect.void } = yield* EnvironmentService
              const busy = yield* Effect.flip(bridgeRelay({ relayUrl: url, userRelayUrl: url }, again))
              assert.strictEqual(busy._tag, "ForwarderPortBusy")
              assert.include(busy.message, `: process ${process.pid} of this machine (`)
            })
          )
          const silent = yield* Effect.flip(askRelay(DEAD_RELAY))
          assert.deepInclude(silent, {
            _tag: "RelayNotAnswering",
            through: "bridge",
            detail: "it closed the connection"
          })
        }).pipe(Effect.scoped, Effect.provide([relay, environmentOf("bash")]))
    )

    it.effect.skipIf(!isRoot)("passes every byte and each end of sending", () =>
      Effect.gen(function* () {
        const { port } = (yield* reverser).address() as AddressInfo
        yield* bridge("127.0.0.1:7001", `127.0.0.1:${port}`)
        // Reversed twice, it is what was sent.
        yield* output("head -c 3000000 /dev/urandom >/tmp/sent && nc 127.0.0.1 7001 </tmp/sent >/tmp/reversed")
        yield* output(
          "nc 127.0.0.1 7001 </tmp/reversed >/tmp/got && cmp /tmp/sent /tmp/got && ! cmp -s /tmp/sent /tmp/reversed"
        )
      }).pipe(Effect.scoped, Effect.provide(environmentOf("busybox")))
    )

    it.effect.skipIf(!isRoot)(
      "closes the connections whose target does not answer, and refuses what is no address",
      () =>
        Effect.gen(function* () {
          // The scope of what listened there is closed.
          const port = yield* Effect.scoped(Effect.map(reverser, (server) => (server.address() as AddressInfo).port))
          yield* bridge("127.0.0.1:7002", `127.0.0.1:${port}`)
          assert.strictEqual((yield* output("echo hello | nc 127.0.0.1 7002; echo closed")).trim(), "closed")
          const error = yield* Effect.flip(bridge("127.0.0.1", "127.0.0.1:1"))
          assert.match(error.message, /it is no host:port/)
        }).pipe(Effect.scoped, Effect.provide(environmentOf("busybox")))
    )

    it.effect("gives way to a program of the container, which is named", () =>
      Effect.gen(function* () {
        const pid = (yield* output("nc -l -p 7003 </dev/null >/dev/null 2>&1 & echo $!")).trim()
        const owner = yield* eventually(ownerOfPort("127.0.0.1:7003"), (found) => found !== undefined)
        assert.strictEqual(owner, `process ${pid} (nc -l -p 7003)`)
      }).pipe(Effect.provide(environmentOf("busybox")))
    )

    it.effect("is not offered where the network is this machine's", () =>
      Effect.gen(function* () {
        assert.notProperty(yield* EnvironmentService, "bridge")
      }).pipe(Effect.provide(environmentOf("busybox", { network: "host" })))
    )
  })
})
