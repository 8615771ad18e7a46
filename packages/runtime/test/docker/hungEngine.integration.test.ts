// @module-tag thorough
/** An engine that takes requests and never answers: whoever waits for it can give it up. */
import { NodeServices } from "@effect/platform-node"
import { ContainerEngine } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import * as ContainerEngineApi from "@buzz-orchestra/runtime/docker/ContainerEngineApi"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"

/** Says its version and that it made an exec, and nothing else. */
const answers: Readonly<Record<string, object>> = {
  "/version": { Version: "1", ApiVersion: "1.41", Os: "linux", Arch: "amd64" },
  "/containers/c/exec": { Id: "e" }
}

const engine = Layer.unwrap(
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer((request, response) => {
        const answer = answers[request.url ?? ""]
        if (answer !== undefined) response.setHeader("content-type", "application/json").end(JSON.stringify(answer))
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.closeAllConnections()).pipe(Effect.andThen(Effect.sync(() => server.close())))
  ).pipe(
    Effect.map((server) => {
      const { port } = server.address() as AddressInfo
      return ContainerEngineApi.layer({ _tag: "Tcp", host: "127.0.0.1", port, tls: undefined })
    })
  )
).pipe(Layer.provideMerge(NodeServices.layer))

/** Gives up soon. */
const given = <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.timeoutOption(Effect.scoped(call), "100 millis")

layer(engine, { excludeTestServices: true })("an engine that hangs", (it) => {
  it.effect("is given up by every kind of call", () =>
    Effect.gen(function* () {
      const { buildImage, exec, follow, holdStdin, inspectContainer, removeContainer } = yield* ContainerEngine
      const build = { archive: Stream.make(new Uint8Array(512)), tag: "t", labels: {}, onProgress: () => Effect.void }
      assert.isTrue(Option.isNone(yield* given(buildImage(build))))
      assert.isTrue(Option.isNone(yield* given(exec("c", { argv: ["sh"] }))))
      assert.isTrue(Option.isNone(yield* given(follow("c"))))
      assert.isTrue(Option.isNone(yield* given(holdStdin("c"))))
      assert.isTrue(Option.isNone(yield* given(inspectContainer("c"))))
      assert.isTrue(Option.isNone(yield* given(removeContainer("c"))))
    })
  )
})
