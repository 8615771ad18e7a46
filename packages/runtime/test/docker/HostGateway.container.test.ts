/** A server of this machine at the address that containers see it under. */
import { assert, layer } from "@effect/vitest"
import { hostGateway } from "@buzz-orchestra/runtime/docker/HostGateway"
import { Effect } from "effect"
import { type AddressInfo, createServer, type Server } from "node:net"
import { output } from "../support/environment.ts"
import { containerTests } from "./support/containerTests.ts"
import { docker, engineLayer, environmentOf } from "./support/engine.ts"

/** Says hello at this address only; its port. */
const greeter = (address: string) =>
  Effect.acquireRelease(
    Effect.callback<Server, Error>((resume) => {
      const server = createServer((socket) => socket.end("hello\n"))
      server.on("error", (error) => resume(Effect.fail(error)))
      server.listen(0, address, () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(Effect.map((server) => (server.address() as AddressInfo).port))

containerTests("hostGateway", () => {
  layer(engineLayer, { excludeTestServices: true })((it) => {
    it.effect("leads from the bridge, from a network of its own and from this machine's to a server here", () =>
      Effect.gen(function* () {
        const network = `buzz-gateway-${process.pid}`
        yield* Effect.acquireRelease(
          Effect.promise(() => docker.createNetwork({ Name: network })),
          (created) => Effect.promise(() => created.remove())
        )
        for (const name of ["public", network, "host"]) {
          const gateway = yield* hostGateway(name)
          if (gateway === undefined) return yield* Effect.die(new Error(`no gateway of ${name}`))
          // Podman gives the host its address when the first container joins.
          const said = Effect.flatMap(greeter(gateway.address), (port) =>
            output(`nc ${gateway.name} ${port} </dev/null`)
          )
          assert.strictEqual(yield* Effect.provide(said, environmentOf("busybox", { network: name })), "hello\n", name)
        }
      }).pipe(Effect.scoped)
    )

    it.effect("is none where no way leads out", () =>
      Effect.gen(function* () {
        assert.isUndefined(yield* hostGateway("none"))
        assert.isUndefined(yield* hostGateway("no-such-network"))
      })
    )
  })
})
