import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { Effect, FileSystem, Layer } from "effect"
import { HostProcess } from "@buzz-orchestra/runtime/docker/HostProcess"

const onLinux = process.platform === "linux"

describe("HostProcess", () => {
  it.effect.skipIf(!onLinux)("names this process as the system does", () =>
    Effect.gen(function* () {
      const { knowsOthers, self, startTimeOf } = yield* HostProcess
      assert.isTrue(knowsOthers)
      assert.strictEqual(self.pid, process.pid)
      // `sh` reads the same line and takes it apart in its own way.
      const stat = execFileSync("sh", ["-c", "cat /proc/$PPID/stat; readlink /proc/$PPID/ns/pid"], { encoding: "utf8" })
      assert.strictEqual(self.pidStartTime, stat.replace(/^.*\) /, "").split(" ")[19])
      assert.match(self.host, /^[0-9a-f-]{36}\/pid:\[[0-9]+\]$/)
      assert.isTrue(self.host.endsWith(stat.trim().split("\n").at(-1) ?? ""))
      assert.strictEqual(yield* startTimeOf(process.pid), self.pidStartTime)
      // Above the kernel's highest pid.
      assert.isUndefined(yield* startTimeOf(4_194_305))
    }).pipe(Effect.provide(HostProcess.layer.pipe(Layer.provide(NodeServices.layer))))
  )

  it.effect.skipIf(!onLinux)("takes a zombie for gone", () =>
    Effect.gen(function* () {
      const { startTimeOf } = yield* HostProcess
      assert.isUndefined(yield* startTimeOf(7))
      assert.strictEqual(yield* startTimeOf(8), "123")
    }).pipe(
      Effect.provide(
        HostProcess.layer.pipe(
          Layer.provide(
            FileSystem.layerNoop({
              readLink: () => Effect.succeed("pid:[1]"),
              readFileString: (path) =>
                Effect.succeed(path.startsWith("/proc/sys") || path.startsWith("/etc") ? "id\n" : statLine(path))
            })
          )
        )
      )
    )
  )

  it.effect("knows of nobody where there is no /proc, and takes nobody else's things for its own", () =>
    Effect.gen(function* () {
      const { knowsOthers, self } = yield* HostProcess
      assert.isFalse(knowsOthers)
      assert.match(self.host, /^unknown\/[0-9a-f]{32}$/)
    }).pipe(Effect.provide(HostProcess.layer.pipe(Layer.provide(FileSystem.layerNoop({})))))
  )
})

/** As the kernel writes it; process 7 is a zombie. */
const statLine = (path: string): string => {
  const pid = /(\d+)\/stat$/.exec(path)?.[1] ?? "5"
  return `${pid} (a) b) ${pid === "7" ? "Z" : "S"} 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 123 0 0\n`
}
