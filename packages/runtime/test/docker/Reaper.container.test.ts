/** What a killed harness leaves in an engine, and that it is found and removed while the living keep theirs. */
import { assert, layer } from "@effect/vitest"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { ContainerEngine } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import { HostProcess } from "@buzz-orchestra/runtime/docker/HostProcess"
import { type Owner, OWNER_LABEL, toLabels } from "@buzz-orchestra/runtime/docker/OwnerLabels"
import { Reaper } from "@buzz-orchestra/runtime/docker/Reaper"
import { Effect, Layer } from "effect"
import { runOnce } from "../../src/docker/internal/runOnce.ts"
import { eventually } from "../support/shells.ts"
import { output } from "../support/environment.ts"
import { running, startHarness, statusOf } from "./support/container.ts"
import { containerTests } from "./support/containerTests.ts"
import { docker, engineLayer, environmentOf, image } from "./support/engine.ts"

/** Names of everything in the engine that belongs to this trial. */
const ownedBy = (trial: string) =>
  ContainerEngine.use(({ listOwned }) =>
    Effect.map(listOwned(OWNER_LABEL), (objects) =>
      objects.filter(({ labels }) => labels["org.buzz-orchestra.trial"] === trial).map(({ name }) => name)
    )
  )

const shows = (rows: ReadonlyArray<string>, command: string) => rows.some((row) => row.includes(command))

containerTests("Reaper", () => {
  layer(Reaper.layer.pipe(Layer.provideMerge(engineLayer)), { excludeTestServices: true })((it) => {
    it.effect("finds a container stopped that a kill -9 orphaned, and removes it; never a living one's", () =>
      Effect.gen(function* () {
        const { reap } = yield* Reaper
        const { container: living } = (yield* EnvironmentService).facts
        const { container, handle } = yield* startHarness(yield* image("busybox"))
        const idle = yield* reap()
        assert.notInclude(
          idle.removed.map(({ object }) => object.id),
          container
        )
        assert.includeMembers(
          idle.kept.map(({ object }) => object.id),
          [container, living?.id ?? ""]
        )
        yield* handle.kill({ killSignal: "SIGKILL" })
        // Nobody has to come and end it: its processes go with their harness.
        yield* eventually(statusOf(container), (status) => status === "exited", "5 seconds")
        const dry = yield* reap({ dryRun: true })
        assert.include(
          dry.removed.map(({ object }) => object.id),
          container
        )
        assert.strictEqual(yield* statusOf(container), "exited")
        yield* reap()
        assert.strictEqual(yield* statusOf(container), "gone")
        assert.strictEqual(yield* output("echo on"), "on\n")
      }).pipe(Effect.provide(environmentOf("busybox")))
    )

    it.effect("leaves no process of a killed harness in a container that exists", () =>
      Effect.gen(function* () {
        const id = yield* running({ Image: yield* image("busybox") })
        const { handle } = yield* startHarness(`container:${id}`)
        const engine = yield* ContainerEngine
        // This PID 1 reaps nobody.
        const commands = Effect.map(runOnce(engine, id, { argv: ["ps", "-o", "stat,args"] }), ({ stdout }) =>
          stdout.split("\n").filter((row) => /^[^Z]\s/.test(row) && !row.includes("ps -o"))
        )
        const sleeps = yield* eventually(commands, (rows) => shows(rows, "sleep 1001"))
        for (const command of ["sleep 1002", "sleep 1003", "sleep 1004", "/opt/buzz/bin/agent"])
          assert.isTrue(shows(sleeps, command), command)
        yield* handle.kill({ killSignal: "SIGKILL" })
        // Shells see the end of their input, the guard ends the stack, and a command's own limit the command.
        const left = yield* eventually(commands, (rows) => rows.length === 1, "6 seconds")
        assert.isTrue(shows(left, "sleep 1000"))
      })
    )

    it.effect("leaves alone what a container that exists ran before", () =>
      Effect.gen(function* () {
        const id = yield* running({ Image: yield* image("busybox") })
        const source = { _tag: "Container", id } as const
        yield* output("setsid sleep 1005 >/dev/null 2>&1 &").pipe(Effect.provide(environmentOf("busybox", { source })))
        const after = yield* output("cat /proc/[0-9]*/cmdline | tr '\\0' ' '").pipe(
          Effect.provide(environmentOf("busybox", { source }))
        )
        assert.include(after, "sleep 1005")
      })
    )

    it.effect("removes networks, volumes and old images of the dead as well", () =>
      Effect.gen(function* () {
        const { self } = yield* HostProcess
        const { reap } = yield* Reaper
        const trial = `dead-${process.pid}`
        // No process has had this start time.
        const dead: Owner = { ...self, pidStartTime: "1", run: "r", trial, created: "2020-01-01T00:00:00.000Z" }
        const reference = yield* image("busybox")
        yield* Effect.promise(async () => {
          await docker.createNetwork({ Name: trial, Labels: toLabels(dead) })
          await docker.createVolume({ Name: trial, Labels: toLabels(dead) })
          const container = await docker.createContainer({ Image: reference, name: trial, Labels: toLabels(dead) })
          await container.commit({
            repo: trial,
            changes: Object.entries(toLabels(dead)).map(([name, value]) => `LABEL ${name}="${value}"`)
          })
        })
        assert.strictEqual((yield* ownedBy(trial)).length, 4)
        const report = yield* reap()
        assert.deepStrictEqual(report.refused, [])
        assert.deepStrictEqual(
          report.removed
            .filter(({ object }) => object.labels["org.buzz-orchestra.trial"] === trial)
            .map(({ object }) => object.kind),
          ["container", "network", "volume", "image"]
        )
        assert.deepStrictEqual(yield* ownedBy(trial), [])
      })
    )
  })
})
