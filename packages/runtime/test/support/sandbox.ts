/** Local sandboxes for tests. */
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import { Effect, FileSystem, Layer } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { existsSync } from "node:fs"
import type { EnvironmentSuiteOptions } from "./environment.ts"

export const isInstalled = (program: string): boolean =>
  ["/bin", "/usr/bin"].some((folder) => existsSync(`${folder}/${program}`))

/** Somebody else to run commands as: only root can become another. */
export const ANOTHER_USER: EnvironmentSuiteOptions = process.getuid?.() === 0 ? { otherUser: "nobody" } : {}

/** What a sandbox needs from util-linux, and what serves the suites as an oracle. */
const NOT_FROM_BUSYBOX = ["setpriv", "setsid", "nsenter", "unshare", "od"]

/** A sandbox in which `sh` and everything a shell script calls is busybox, as in small images. */
export const busyboxEnvironment = Layer.unwrap(
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const folder = yield* fs.makeTempDirectoryScoped()
    const applets = yield* spawner.lines(ChildProcess.make("busybox", ["--list"], { extendEnv: true }))
    const busybox = (yield* fs.exists("/usr/bin/busybox")) ? "/usr/bin/busybox" : "/bin/busybox"
    for (const applet of applets) {
      if (!NOT_FROM_BUSYBOX.includes(applet)) yield* fs.symlink(busybox, `${folder}/${applet}`)
    }
    return LocalEnvironment.layer({
      mounts: [{ source: folder, target: "/opt/busybox", readOnly: true }],
      env: { PATH: "/opt/busybox:/usr/sbin:/usr/bin:/sbin:/bin" }
    })
  })
)
