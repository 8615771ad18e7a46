import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { parseProcStats } from "../src/internal/procStat.ts"

const line = (pid: number, name: string): string =>
  `${pid} (${name}) S 1 2 3 ${Array.from({ length: 15 }, () => 0).join(" ")} ${pid}0 0 0`

describe("parseProcStats", () => {
  it("reads names that contain line breaks, and what could pass for a line in them", () => {
    const names = ["sh", "a\nb", "\n", "a) S 1\n9 (b) S", "a\n9 (b", "\n\n)\n", "sh"]
    const text = names.map((name, index) => `${line(index + 10, name)}\n`).join("")
    assert.deepStrictEqual(
      parseProcStats(text).map(({ pid, startTime, state }) => [pid, startTime, state]),
      names.map((_, index) => [index + 10, `${index + 10}0`, "S"])
    )
  })

  it("leaves out what is no process", () => {
    assert.deepStrictEqual(parseProcStats(""), [])
    assert.deepStrictEqual(
      parseProcStats(`cat: gone\n\n${line(4, "x")}\n`).map(({ pid }) => pid),
      [4]
    )
  })

  it.skipIf(process.platform !== "linux")("knows a process as this kernel shows it", () => {
    const script = "printf 'a\\nb' >/proc/$$/comm; echo $$; cat /proc/$$/stat /proc/1/stat"
    const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8" })
    const [pid, ...rest] = stdout.split("\n")
    assert.deepStrictEqual(
      parseProcStats(rest.join("\n")).map((stat) => stat.pid),
      [Number(pid), 1]
    )
  })
})
