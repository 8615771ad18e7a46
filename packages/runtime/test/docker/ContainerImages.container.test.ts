/** Images with peculiarities: each runs a trial's set-up, or is refused for the reason that says what is missing. */
import { assert, layer } from "@effect/vitest"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import type { DockerEnvironmentOptions } from "@buzz-orchestra/runtime/docker/DockerEnvironmentOptions"
import { fromDirectory } from "@buzz-orchestra/runtime/StackFiles"
import { StackInstaller } from "@buzz-orchestra/runtime/StackInstaller"
import * as StackInstallerLive from "@buzz-orchestra/runtime/StackInstallerLive"
import { Effect, FileSystem, Layer } from "effect"
import { fileURLToPath } from "node:url"
import { encode } from "../support/bytes.ts"
import { follow, gone, output } from "../support/environment.ts"
import { running } from "./support/container.ts"
import { canMake, type TestImage } from "./images/TestImages.ts"
import { containerTests } from "./support/containerTests.ts"
import { engineLayer, environmentOf, flavor, image } from "./support/engine.ts"

const STACK = fileURLToPath(new URL("../fixtures/stack", import.meta.url))

const within = (name: TestImage, options: Partial<DockerEnvironmentOptions> = {}) =>
  Effect.provide(StackInstallerLive.layer.pipe(Layer.provideMerge(environmentOf(name, options))))

const install = Effect.flatMap(fromDirectory(STACK), (files) =>
  StackInstaller.use((installer) => installer.install(files))
)

/** What a trial does in its environment: files in, a program of the stack in the background, its log and its death watched. */
const rehearse = Effect.gen(function* () {
  const environment = yield* EnvironmentService
  const { layout } = yield* install
  yield* environment.upload({ content: encode("#!/bin/sh\necho begun\nexec sleep 1000\n") }, `${layout.bin}/agent`, {
    mode: 0o755
  })
  const watch = yield* follow(layout.logs)
  const started = yield* output(
    `cd ${layout.logs} && { ${layout.bin}/agent </dev/null >>a.stdout.log 2>&1 & } && echo $! >a.pid && cat a.pid`
  )
  yield* watch.awaitLog("a.stdout.log", (text) => text === "begun\n")
  yield* output(`kill ${started}`)
  yield* watch.awaitEvent((event) => event._tag === "ProcessDied" && event.pid === Number(started))
  yield* gone(started)
  return layout
})

containerTests("images", () => {
  layer(engineLayer, { excludeTestServices: true })((it) => {
    it.effect.skipIf(!canMake.bash)("without ps, Python, curl or certificates runs what a trial runs", () =>
      Effect.gen(function* () {
        assert.strictEqual(
          yield* output("for p in ps python3 curl; do command -v $p; done; ls /etc/ssl/certs 2>/dev/null; :"),
          ""
        )
        assert.strictEqual((yield* rehearse).root, "/opt/buzz")
      }).pipe(within("bash"))
    )

    it.effect.skipIf(!canMake.bash)("with a user of its own runs everything as that user", () =>
      Effect.gen(function* () {
        const { facts } = yield* EnvironmentService
        assert.strictEqual((yield* output("id -un")).trim(), "agent")
        assert.strictEqual((yield* rehearse).root, "/opt/buzz")
        yield* output(`touch /logs/a /tests/a ${facts.homeDirectory}/a`)
        // The image's own work directory keeps its owner: it is the task's.
        assert.strictEqual((yield* output("touch /app/a 2>/dev/null || echo refused")).trim(), "refused")
        assert.strictEqual(facts.workDirectory, "/app")
      }).pipe(within("nonRoot"))
    )

    it.effect.skipIf(!canMake.bash)("that let nobody write to /opt get the stack into the home", () =>
      Effect.gen(function* () {
        const reference = yield* image("nonRoot")
        const existing = yield* running({ Image: reference, HostConfig: { CapDrop: ["ALL"] } })
        // Without its capabilities even root cannot give a directory away.
        const root = yield* Effect.map(rehearse, (layout) => layout.root).pipe(
          within("nonRoot", { source: { _tag: "Container", id: existing } })
        )
        assert.match(root, /^\/opt\/buzz$|^\/tmp\/buzz-home-[a-z0-9]{6}\/\.buzz$/)
      })
    )

    it.effect("without bash are refused for that", () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(install)
        assert.strictEqual(error.reason._tag, "BashMissing")
      }).pipe(within("busybox"))
    )

    it.effect.skipIf(!canMake.musl)("with musl run programs that are linked to it", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        yield* environment.upload({ path: "/lib/ld-musl-x86_64.so.1" }, "/tmp/loader", { mode: 0o755 })
        assert.match((yield* environment.exec("/tmp/loader --version 2>&1; :")).stdout, /musl libc/)
        assert.strictEqual((yield* output("echo in; cat /etc/alpine-release")).trim(), "in\n3.20.0")
      }).pipe(within("musl"))
    )

    it.effect("with an entry point that swallows commands run ours", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* output("echo mine")).trim(), "mine")
      }).pipe(within("entrypoint"))
    )

    it.effect("without a shell are refused for that, made or found", () =>
      Effect.gen(function* () {
        const made = yield* Effect.flip(output("true").pipe(within("noShell")))
        assert.strictEqual(made.reason._tag, "ShellMissing")
        const existing = yield* running({ Image: yield* image("noShell"), Cmd: ["/sleep", "1000"] })
        const source = { _tag: "Container", id: existing } as const
        const found = yield* Effect.flip(output("true").pipe(within("noShell", { source })))
        assert.strictEqual(found.reason._tag, "ShellMissing")
      })
    )

    it.effect("for another processor are refused for that", () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(output("true").pipe(within("foreign")))
        assert.match(error.message, /is built for linux on (aarch64|x86_64), which this engine's machine cannot run/)
      })
    )

    it.effect("for another processor that run all the same take no program of this one", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        for (const name of ["buzz-acp", "buzz-agent", "buzz-dev-mcp"])
          yield* fs.copyFile("/bin/busybox", `${folder}/${name}`)
        const installer = yield* StackInstaller
        const error = yield* Effect.flip(Effect.flatMap(fromDirectory(folder), installer.install))
        assert.strictEqual(error.reason._tag, "ArchitectureMismatch")
        assert.strictEqual((yield* output("ls /opt/buzz")).trim(), "")
      }).pipe(within("emulated"))
    )

    it.effect.skipIf(!canMake.bash)("in a container whose PID 1 reaps nobody run what a trial runs", () =>
      Effect.gen(function* () {
        const existing = yield* running({ Image: yield* image("bash") })
        const source = { _tag: "Container", id: existing } as const
        yield* Effect.gen(function* () {
          yield* rehearse
          assert.match(yield* output("cat /proc/[0-9]*/stat 2>/dev/null; :"), /\) Z 1 /)
        }).pipe(within("bash", { source }))
      })
    )

    // Podman mounts writable memory where a program needs some.
    it.effect.skipIf(!canMake.bash || flavor === "podman")(
      "in a container with a read-only root say where programs cannot be put",
      () =>
        Effect.gen(function* () {
          const existing = yield* running({ Image: yield* image("bash"), HostConfig: { ReadonlyRootfs: true } })
          const error = yield* Effect.flip(
            Effect.gen(function* () {
              const { facts } = yield* EnvironmentService
              assert.match(facts.limitations.join(" "), /\/logs could not be made\. \/tests could not be made\./)
              assert.match(facts.homeDirectory, /^\/dev\/shm\//)
              return yield* install
            }).pipe(within("bash", { source: { _tag: "Container", id: existing } }))
          )
          assert.strictEqual(error.reason._tag, "LayoutNotWritable")
        })
    )
  })
})
