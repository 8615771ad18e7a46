/** What a container is given, and that the record says what it really got. */
import { assert, layer } from "@effect/vitest"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { ContainerEngine } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import type { DockerEnvironmentOptions } from "@buzz-orchestra/runtime/docker/DockerEnvironmentOptions"
import { traitsOf } from "@buzz-orchestra/runtime/docker/EngineFlavor"
import { fromLabels } from "@buzz-orchestra/runtime/docker/OwnerLabels"
import { fromDirectory } from "@buzz-orchestra/runtime/StackFiles"
import { StackInstaller } from "@buzz-orchestra/runtime/StackInstaller"
import * as StackInstallerLive from "@buzz-orchestra/runtime/StackInstallerLive"
import { ConfigProvider, Effect, FileSystem, Option } from "effect"
import { fileURLToPath } from "node:url"
import { output } from "../support/environment.ts"
import type { TestImage } from "./images/TestImages.ts"
import { containerTests } from "./support/containerTests.ts"
import { docker, engineLayer, environmentOf, flavor, image } from "./support/engine.ts"

const STACK = fileURLToPath(new URL("../fixtures/stack", import.meta.url))

const within = (name: TestImage, options: Partial<DockerEnvironmentOptions> = {}) =>
  Effect.provide(environmentOf(name, options))

const facts = EnvironmentService.useSync(({ facts }) => facts)

/** A folder of this machine. The scope removes it. */
const hostFolder = FileSystem.FileSystem.pipe(Effect.flatMap((fs) => fs.makeTempDirectoryScoped()))

containerTests("a container's options", () => {
  layer(engineLayer, { excludeTestServices: true })((it) => {
    it.effect("applies limits, mounts, variables and the network, and records what the engine says of them", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* hostFolder
        yield* fs.writeFileString(`${folder}/given`, "given")
        yield* Effect.gen(function* () {
          const { container, limitations, ...rest } = yield* facts
          assert.deepStrictEqual(limitations, [])
          assert.deepInclude(rest, { kind: flavor, created: true, workDirectory: "/app", architecture: "x86_64" })
          assert.deepStrictEqual(container?.applied, {
            limits: { cpus: 0.5, memoryMb: 64, pids: 99 },
            network: "none",
            init: false,
            user: "",
            readOnlyRoot: false,
            mounts: [{ source: folder, target: "/given", readOnly: true }],
            temporary: ["/fast"]
          })
          const memory = yield* output(
            "cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null; :"
          )
          assert.strictEqual(memory.trim(), String(64 * 1024 * 1024))
          const pids = yield* output("cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null; :")
          assert.strictEqual(pids.trim(), "99")
          assert.strictEqual(yield* output("cat /given/given; ! touch /given/new 2>/dev/null"), "given")
          assert.match(yield* output("df -k /fast | tail -n 1"), /\s2048\s/)
          assert.strictEqual(yield* output('printf %s "$GREETING"'), "it's me")
          assert.strictEqual((yield* output("ls /sys/class/net")).trim(), "lo")
        }).pipe(
          within("busybox", {
            limits: { cpus: 0.5, memoryMb: 64, pids: 99 },
            mounts: [{ source: folder, target: "/given", readOnly: true }],
            temporary: [{ target: "/fast", sizeMb: 2 }],
            environment: { GREETING: "it's me" }
          })
        )
      })
    )

    it.effect("says so when the engine cannot limit the storage", () =>
      Effect.gen(function* () {
        const { container, limitations } = yield* facts
        if (container?.applied.limits.storageMb === undefined)
          assert.match(limitations.join(), /not limited to 500 MiB/)
        else assert.strictEqual(container.applied.limits.storageMb, 500)
      }).pipe(within("busybox", { limits: { storageMb: 500 } }))
    )

    it.effect("labels what it makes with its owner, and removes it with its scope", () =>
      Effect.gen(function* () {
        const engine = yield* ContainerEngine
        const id = yield* Effect.gen(function* () {
          const { container } = yield* facts
          const state = yield* engine.inspectContainer(container?.id ?? "")
          assert.match(state?.name ?? "", /^buzz-a-trial-x-[a-z0-9]{6}$/)
          const owner = Option.getOrThrow(fromLabels(state?.labels ?? {}))
          assert.deepInclude(owner, { run: "run 7", trial: "a trial/x", pid: process.pid })
          return state?.id ?? ""
        }).pipe(within("busybox", { runId: "run 7", trialId: "a trial/x" }))
        assert.isUndefined(yield* engine.inspectContainer(id))
      })
    )

    it.effect("knows the host by a name on the bridge, and joins a network by its own", () =>
      Effect.gen(function* () {
        const network = `buzz-test-${process.pid}`
        yield* Effect.acquireRelease(
          Effect.promise(() => docker.createNetwork({ Name: network })),
          (created) => Effect.promise(() => created.remove())
        )
        const hosts = output("cat /etc/hosts").pipe(
          within("busybox", { network: "public", extraHosts: ["db:10.0.0.9"] })
        )
        const name = traitsOf(flavor).hostName.replaceAll(".", "\\.")
        assert.match(yield* hosts, new RegExp(`^\\d+\\.\\d+\\.\\d+\\.\\d+\\s+.*\\b${name}$`, "m"))
        assert.match(yield* hosts, /^10\.0\.0\.9\s+db$/m)
        const joined = yield* facts.pipe(within("busybox", { network }))
        assert.strictEqual(joined.container?.applied.network, network)
        const error = yield* Effect.flip(facts.pipe(within("busybox", { network: "no-such-network" })))
        assert.include(error.message, "no-such-network")
      })
    )

    it.effect("ends by itself after its time limit, and says that it was this", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const error = yield* Effect.flip(environment.exec("sleep 1000"))
        assert.deepInclude(error.reason, { _tag: "EnvironmentLost", exitCode: 124 })
        assert.include(error.message, "its own time limit of 1 s")
      }).pipe(within("busybox", { timeLimit: "1 second" }))
    )

    it.effect("has everything that a trial writes in memory when its root is read-only", () =>
      Effect.gen(function* () {
        const { layout } = yield* StackInstaller.use(({ install }) => Effect.flatMap(fromDirectory(STACK), install))
        assert.strictEqual(layout.root, "/opt/buzz")
        assert.strictEqual((yield* output("touch /etc/new 2>/dev/null || echo refused")).trim(), "refused")
        const { container, homeDirectory, limitations } = yield* facts
        yield* output(`touch /logs/a /tests/a /tmp/a ${homeDirectory}/a`)
        assert.isTrue(container?.applied.readOnlyRoot)
        assert.deepStrictEqual(limitations, [])
      }).pipe(
        Effect.provide(StackInstallerLive.layer),
        within("bash", { readOnlyRoot: true, temporary: [{ target: "/app" }] })
      )
    )

    it.effect("mounts a stack instead of uploading it, and uploads one that it could not mount", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const cache = yield* hostFolder
        const stack = yield* fromDirectory(STACK)
        const installed = Effect.gen(function* () {
          const { digests, layout } = yield* StackInstaller.use(({ install }) => install(stack))
          const { container } = yield* facts
          const writable = yield* output(`touch ${layout.bin}/new 2>/dev/null && echo yes || echo no`)
          return { digests, mounts: container?.applied.mounts ?? [], writable: writable.trim() }
        }).pipe(
          Effect.provide(StackInstallerLive.layer),
          within("bash", { stack }),
          Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ XDG_CACHE_HOME: cache })))
        )
        const first = yield* installed
        assert.strictEqual(first.writable, "no")
        assert.match(first.mounts[0]?.source ?? "", new RegExp(`^${cache}/buzz-orchestra/stacks/[0-9a-f]{64}$`))
        assert.deepStrictEqual(yield* installed, first)
        assert.strictEqual((yield* fs.readDirectory(`${cache}/buzz-orchestra/stacks`)).length, 1)
        const uploaded = yield* StackInstaller.use(({ install }) => install(stack)).pipe(
          Effect.provide(StackInstallerLive.layer),
          within("bash")
        )
        assert.deepStrictEqual(uploaded.digests, first.digests)
        // Another program in the same place, and nothing can be mounted below what is read-only.
        const mounts = [{ source: process.execPath, target: "/opt/buzz/bin/node", readOnly: true }]
        const both = yield* facts.pipe(within("bash", { stack, mounts }))
        assert.deepStrictEqual(both.container?.applied.mounts, mounts)
      })
    )

    // Podman brings none: its package only recommends one.
    it.effect.skipIf(flavor === "podman")(
      "runs as the user it is told to, with the engine's own init when asked for",
      () =>
        Effect.gen(function* () {
          const { homeDirectory } = yield* facts
          assert.strictEqual((yield* output(`id -u; touch /logs/a /app/a ${homeDirectory}/a`)).trim(), "1000")
          assert.match(yield* output("cat /proc/1/cmdline"), /init/)
          assert.deepInclude((yield* facts).container?.applied, { user: "1000:1000", init: true })
        }).pipe(within("busybox", { user: "1000:1000", init: true }))
    )

    it.effect("refuses an image that the engine does not have", () =>
      Effect.gen(function* () {
        const source = { _tag: "Image", reference: "no-such-image:1" } as const
        const error = yield* Effect.flip(facts.pipe(within("busybox", { source })))
        assert.match(error.message, /has no image no-such-image:1; pull or build it first/)
      })
    )

    it.effect("refuses a container that sees its host's processes: a sweep could not tell whose they are", () =>
      Effect.gen(function* () {
        const Image = yield* image("busybox")
        const existing = yield* Effect.acquireRelease(
          Effect.promise(() =>
            docker.createContainer({ Image, Cmd: ["sleep", "1000"], HostConfig: { PidMode: "host" } })
          ),
          (container) => Effect.promise(() => container.remove({ force: true }))
        )
        const source = { _tag: "Container", id: existing.id } as const
        const error = yield* Effect.flip(facts.pipe(within("busybox", { source })))
        assert.match(error.message, /it has the processes of host, which nobody could tell from a trial's/)
      })
    )

    it.effect("uses a container that exists, and leaves it as it was", () =>
      Effect.gen(function* () {
        const reference = yield* image("busybox")
        const existing = yield* Effect.acquireRelease(
          Effect.promise(() =>
            docker.createContainer({ Image: reference, Cmd: ["sleep", "1000"], HostConfig: { NetworkMode: "none" } })
          ),
          (container) => Effect.promise(() => container.remove({ force: true }))
        )
        yield* Effect.promise(() => existing.start())
        const source = { _tag: "Container", id: existing.id } as const
        const home = yield* Effect.gen(function* () {
          const { created, homeDirectory, limitations } = yield* facts
          assert.isFalse(created)
          assert.strictEqual(limitations.length, 1)
          // PID 1 of this one reaps nobody: a zombie counts as dead all the same.
          yield* output("(sleep 0.01 &) >/dev/null 2>&1; sleep 0.1")
          return homeDirectory
        }).pipe(within("busybox", { source }))
        const { State } = yield* Effect.promise(() => existing.inspect())
        assert.isTrue(State.Running)
        const again = yield* facts.pipe(within("busybox", { source }))
        assert.notStrictEqual(again.homeDirectory, home)
        const missing = yield* Effect.flip(
          facts.pipe(within("busybox", { source: { _tag: "Container", id: "no-such" } }))
        )
        assert.match(missing.message, /container no-such could not be created: there is none/)
      })
    )
  })
})
