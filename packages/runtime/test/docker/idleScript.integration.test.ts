// @module-tag thorough
/** PID 1 of a container, run here in a pid namespace of its own where that is possible, with every shell that images bring. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { idleCommand, NO_SLEEP_CODE, TIME_LIMIT_CODE } from "../../src/docker/internal/idleScript.ts"
import { SHELLS } from "../support/shells.ts"

const canUnshare = spawnSync("unshare", ["--pid", "--fork", "--kill-child", "--mount-proc", "true"]).status === 0

const UNSHARE = ["--pid", "--fork", "--kill-child", "--mount-proc"]

/** Runs it as PID 1 and returns its end. */
const idle = (shell: ReadonlyArray<string>, seconds: number) => {
  const [, ...args] = idleCommand(seconds)
  const child = spawn("unshare", [...UNSHARE, ...shell, ...args], { stdio: ["pipe", "ignore", "ignore"] })
  const ended = new Promise<number>((resolve) => child.on("exit", (code) => resolve(code ?? -1)))
  return { child, ended }
}

/** Pid of the namespace's PID 1 on this machine, once there is one. */
const initOf = async (parent: number): Promise<number> => {
  for (;;) {
    const children = execFileSync("sh", ["-c", `cat /proc/${parent}/task/*/children`], { encoding: "utf8" }).trim()
    if (children !== "") return Number(children.split(" ")[0])
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const inside = (pid: number, command: string) =>
  execFileSync("nsenter", ["-t", String(pid), "-p", "-m", "sh", "-c", command], { encoding: "utf8" })

/** Waits until a command inside prints something that fits. */
const until = async (pid: number, command: string, pattern: RegExp): Promise<string> => {
  const deadline = Date.now() + 10_000
  for (;;) {
    const said = inside(pid, command)
    if (pattern.test(said)) return said
    if (Date.now() > deadline) throw new Error(`${command} said ${said}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const CHILDREN = "cat /proc/1/task/1/children"

for (const shell of SHELLS) {
  describe.skipIf(!canUnshare || !shell.isInstalled)(`PID 1 in ${shell.name}`, shell.options, () => {
    it("ends when whoever holds its stdin is gone", async () => {
      const { child, ended } = idle(shell.argv, 600)
      await until(await initOf(child.pid ?? 0), CHILDREN, /\d+ \d+/)
      child.stdin?.destroy()
      assert.strictEqual(await ended, 0)
    })

    it("ends after its time limit", async () => {
      const { ended } = idle(shell.argv, 1)
      assert.strictEqual(await ended, TIME_LIMIT_CODE)
    })

    it("reaps orphans, survives the signals of a raging agent, and starts its helpers again", async () => {
      const { child, ended } = idle(shell.argv, 600)
      const init = await initOf(child.pid ?? 0)
      const before = await until(init, CHILDREN, /\d+ \d+/)
      const orphan = inside(init, "sh -c 'sleep 0.05 & echo $!'").trim()
      await until(init, `cat /proc/${orphan}/stat 2>/dev/null || echo gone`, /^gone/)
      // The kernel spares the caller of `kill -1`, as it spares PID 1.
      inside(init, "trap '' HUP INT TERM; for s in HUP INT QUIT TERM KILL; do kill -$s 1; kill -$s -1; done")
      const after = await until(init, CHILDREN, /\d+ \d+/)
      assert.notStrictEqual(after, before)
      child.stdin?.destroy()
      assert.strictEqual(await ended, 0)
    })

    // Busybox's shell has a sleep of its own.
    it.skipIf(shell.name === "busybox")("says when there is no sleep", async () => {
      const { ended } = idle(["env", "PATH=/nowhere", `/bin/${shell.argv[0]}`, ...shell.argv.slice(1)], 600)
      assert.strictEqual(await ended, NO_SLEEP_CODE)
    })
  })
}
