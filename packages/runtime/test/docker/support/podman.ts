/**
 * A Podman of the tests' own, where it is installed: its images and containers lie in a temporary directory.
 */
import { NodeServices } from "@effect/platform-node"
import * as ContainerEngineApi from "@buzz-orchestra/runtime/docker/ContainerEngineApi"
import { HostProcess } from "@buzz-orchestra/runtime/docker/HostProcess"
import { Effect, FileSystem, Layer } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { canMake } from "../images/TestImages.ts"
import { eventually } from "../../support/shells.ts"

const isInstalled = (program: string) => ["/usr/bin", "/usr/sbin"].some((folder) => existsSync(join(folder, program)))

/** Why the tests with Podman are skipped; empty when they are not. */
const reason =
  process.getuid?.() !== 0
    ? "they need root"
    : !canMake.busybox
      ? "busybox-static is not installed"
      : !isInstalled("podman") || !isInstalled("runc")
        ? "podman and runc are not installed"
        : ""

export const hasPodman = reason === ""

export const podmanSkipped = hasPodman ? "" : ` (skipped: ${reason})`

const home = hasPodman ? mkdtempSync(join(tmpdir(), "podman-")) : "/nowhere"

export const podmanSocket = join(home, "sock")

/** Both limits must be given, and be within what this process has, where nobody may raise them. */
const configuration = () => {
  const files = execFileSync("sh", ["-c", "ulimit -Hn"], { encoding: "utf8" }).trim()
  return `[containers]
default_ulimits = ["nofile=${files === "unlimited" ? 1_048_576 : files}:${files === "unlimited" ? 1_048_576 : files}", "nproc=32768:32768"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
`
}

const podman = (...args: ReadonlyArray<string>) =>
  ChildProcess.make("podman", ["--root", `${home}/root`, "--runroot", `${home}/run`, ...args], {
    extendEnv: true,
    env: { CONTAINERS_CONF: `${home}/containers.conf` }
  })

/** The socket is there before anybody listens at it. */
const answers = Effect.callback<boolean>((resume) => {
  const socket = connect(podmanSocket)
  const answer = (yes: boolean) => {
    socket.destroy()
    resume(Effect.succeed(yes))
  }
  socket.on("connect", () => answer(true))
  socket.on("error", () => answer(false))
})

/** Podman leaves two processes per exec behind for five minutes; they would then look for the directory. */
const endMonitors = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  for (const pid of yield* fs.readDirectory("/proc")) {
    if (!/^[0-9]+$/.test(pid)) continue
    const command = yield* Effect.orElseSucceed(fs.readFileString(`/proc/${pid}/cmdline`), () => "")
    if (command.includes("conmon\0") && command.includes(`\0${home}/root`)) process.kill(Number(pid), "SIGKILL")
  }
}).pipe(Effect.ignore)

/** Answers as long as the scope is open; then nothing of it is left. May be opened again. */
const service = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* Effect.ignore(spawner.exitCode(podman("rm", "--all", "--force", "--time", "0")))
      yield* endMonitors
      spawnSync("umount", [`${home}/root/overlay`])
      yield* Effect.ignore(fs.remove(home, { recursive: true, force: true }))
    })
  )
  yield* fs.makeDirectory(home, { recursive: true })
  yield* fs.writeFileString(`${home}/containers.conf`, configuration())
  yield* spawner.spawn(podman("system", "service", "--time=0", `unix://${podmanSocket}`))
  yield* eventually(answers, (yes) => yes, "20 seconds")
})

/** The engine as the package sees it, and this process. */
export const podmanLayer = Layer.mergeAll(
  Layer.unwrap(Effect.as(service, ContainerEngineApi.layer({ _tag: "Unix", path: podmanSocket }))),
  HostProcess.layer
).pipe(Layer.provideMerge(NodeServices.layer))
