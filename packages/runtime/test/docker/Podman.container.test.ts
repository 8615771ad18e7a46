/** Podman behind the same API: the contract of every environment, and what it does in its own way. */
import { assert, describe, layer } from "@effect/vitest"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { ContainerEngine } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import { HostProcess } from "@buzz-orchestra/runtime/docker/HostProcess"
import { toLabels } from "@buzz-orchestra/runtime/docker/OwnerLabels"
import { Reaper } from "@buzz-orchestra/runtime/docker/Reaper"
import { Effect, Layer } from "effect"
import { runOnce } from "../../src/docker/internal/runOnce.ts"
import { agentUsersSuite } from "../suites/AgentUsersSuite.ts"
import { environmentSuite } from "../suites/EnvironmentSuite.ts"
import { output } from "../support/environment.ts"
import { clientOf, environmentOf, image } from "./support/engine.ts"
import { hasPodman, podmanLayer, podmanSkipped, podmanSocket } from "./support/podman.ts"

const podman = clientOf(podmanSocket)

const environment = (options: Parameters<typeof environmentOf>[1] = {}) => environmentOf("busybox", options, podman)

describe.skipIf(!hasPodman)(`Podman${podmanSkipped}`, () => {
  environmentSuite("as an environment", environment().pipe(Layer.provide(podmanLayer)), { otherUser: "agent" })
  agentUsersSuite("with busybox", environment().pipe(Layer.provide(podmanLayer)), { named: true })

  layer(Reaper.layer.pipe(Layer.provideMerge(podmanLayer)), { excludeTestServices: true, timeout: "60 seconds" })(
    (it) => {
      it.effect("gives a process nothing of its own request to read", () =>
        Effect.gen(function* () {
          const engine = yield* ContainerEngine
          const { container } = (yield* EnvironmentService).facts
          assert.strictEqual(engine.facts.flavor, "podman")
          const { stdout } = yield* runOnce(engine, container?.id ?? "", { argv: ["cat"] })
          assert.strictEqual(stdout, "")
        }).pipe(Effect.provide(environment()))
      )

      it.effect("is refused for the shell that its image lacks, in this engine's words for it", () =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(output("true").pipe(Effect.provide(environmentOf("noShell", {}, podman))))
          assert.strictEqual(error.reason._tag, "ShellMissing")
        })
      )

      it.effect("applies limits and finds the host by its own name", () =>
        Effect.gen(function* () {
          const { container } = (yield* EnvironmentService).facts
          assert.deepInclude(container?.applied.limits, { memoryMb: 64, pids: 99 })
          assert.match(yield* output("cat /etc/hosts"), /host\.containers\.internal/)
          assert.notInclude(yield* output("cat /etc/hosts"), "host-gateway")
        }).pipe(Effect.provide(environment({ limits: { memoryMb: 64, pids: 99 }, network: "public" })))
      )

      it.effect("is told from a container that is gone", () =>
        Effect.gen(function* () {
          const engine = yield* ContainerEngine
          const { exec, facts } = yield* EnvironmentService
          const id = facts.container?.id ?? ""
          yield* engine.removeContainer(id)
          const error = yield* Effect.flip(exec("true"))
          assert.strictEqual(error.reason._tag, "EnvironmentLost")
          assert.isUndefined(yield* engine.inspectContainer(id))
          assert.isUndefined(yield* engine.inspectContainer("no-such-container"))
          yield* engine.removeContainer(id)
        }).pipe(Effect.provide(environment()))
      )

      it.effect("is reaped", () =>
        Effect.gen(function* () {
          const { reap } = yield* Reaper
          const { self } = yield* HostProcess
          const created = new Date(0).toISOString()
          const Labels = toLabels({ ...self, pidStartTime: "1", run: "r", trial: "t", created })
          const reference = yield* image("busybox", podman)
          yield* Effect.promise(async () => {
            const container = await podman.createContainer({
              Image: reference,
              name: "left",
              Cmd: ["sleep", "1000"],
              Labels
            })
            await container.start()
            await podman.createNetwork({ Name: "left", Labels })
            await podman.createVolume({ Name: "left", Labels })
          })
          const report = yield* reap()
          assert.deepStrictEqual(report.refused, [])
          assert.deepStrictEqual(
            report.removed.map(({ object }) => [object.kind, object.name]),
            [
              ["container", "left"],
              ["network", "left"],
              ["volume", "left"]
            ]
          )
        })
      )
    }
  )
})
