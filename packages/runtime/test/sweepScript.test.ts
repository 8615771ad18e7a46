import { assert, describe, it } from "@effect/vitest"
import { makeMarker } from "../src/internal/markedFrames.ts"
import { parseProcStat } from "../src/internal/procStat.ts"
import { parsePorts, parseSnapshot } from "../src/internal/sweepScript.ts"

const marker = makeMarker("abcd")
const M = marker.text

const stat = (pid: number, name: string, ppid = 1) =>
  `${pid} (${name}) S ${ppid} ${pid} ${pid} 0 -1 4194560 130 192 0 0 0 0 0 0 20 0 1 0 ${pid}00 2654208 387`

const exe = (pid: number, path: string) => `lrwxrwxrwx 1 0 0 0 Nov 30 03:00 /proc/${pid}/exe -> ${path}`

const busyboxExe = (pid: number, path: string) =>
  `lrwxrwxrwx    1 0        0                0 Nov 30 03:00 /proc/${pid}/exe -> ${path}`

const output = (exes: string, ...sections: ReadonlyArray<string>) =>
  `${M}shell\n5\n${M}bin\n/data/buzz/bin\n${M}stat\n${stat(1, "init")}\n${stat(7, "a) R 9 (b")}\n${M}exe\n${exes}\n${sections.join("")}`

describe("procStat", () => {
  it("counts fields from the last parenthesis of a name", () => {
    assert.deepStrictEqual(parseProcStat(stat(7, ") Z 1 (")), {
      pid: 7,
      state: "S",
      ppid: 1,
      group: 7,
      session: 7,
      startTime: "700"
    })
    assert.strictEqual(parseProcStat("7 (cut) S 1"), undefined)
    assert.strictEqual(parseProcStat(""), undefined)
  })
})

describe("parseSnapshot", () => {
  it("puts stats, executables and arguments together", () => {
    const taken = parseSnapshot(
      marker,
      "/opt/buzz/bin",
      output(
        `${exe(1, "/usr/bin/dash")}\n${busyboxExe(7, "/opt/buzz/bin/buzz (deleted)")}`,
        `${M}1\ninit\0`,
        `${M}7\nnode\0two words\0line\nbreak\0\0`
      )
    )
    assert.strictEqual(taken.shell, 5)
    assert.deepStrictEqual(taken.bin, ["/opt/buzz/bin", "/data/buzz/bin"])
    assert.deepStrictEqual(
      taken.processes.map(({ argv, exe, pid, ppid }) => ({ argv, exe, pid, ppid })),
      [
        { pid: 1, ppid: 1, exe: "/usr/bin/dash", argv: ["init"] },
        { pid: 7, ppid: 1, exe: "/opt/buzz/bin/buzz", argv: ["node", "two words", "line\nbreak", ""] }
      ]
    )
  })

  it("reads all arguments from one answer as well, whatever they look like", () => {
    const lines = [
      "/proc/1/cmdline:init",
      "/proc/7/cmdline:node",
      "/proc/7/cmdline:",
      "/proc/7/cmdline:a\n/proc/1/cmdline:b"
    ].map((record) => `${record}\0`)
    const taken = parseSnapshot(marker, "/opt/buzz/bin", output("", `${M}arguments\n${lines.join("")}`))
    assert.deepStrictEqual(
      taken.processes.map(({ argv }) => argv),
      [["init"], ["node", "", "a\n/proc/1/cmdline:b"]]
    )
  })

  it("takes nothing for marked where it asked and was not answered", () => {
    const asked = (sections: string) => parseSnapshot(marker, "/opt/buzz/bin", output("", sections), "A=b").marked
    assert.deepStrictEqual(asked(""), new Set<number>())
    assert.deepStrictEqual(asked(`${M}marked\n7\n\n12\n`), new Set([7, 12]))
    assert.isUndefined(parseSnapshot(marker, "/opt/buzz/bin", output("", "")).marked)
  })

  it("believes an executable of which root and the process's user say the same", () => {
    const twice = `${exe(1, "/usr/bin/dash")}\n${exe(7, "/opt/buzz/bin/buzz")}\n${exe(7, "/opt/buzz/bin/buzz (deleted)")}`
    const { processes } = parseSnapshot(marker, "/opt/buzz/bin", output(twice))
    assert.deepStrictEqual(
      processes.map(({ exe }) => exe),
      ["/usr/bin/dash", "/opt/buzz/bin/buzz"]
    )
  })

  it("believes no executable that another process's path could have forged", () => {
    const forged = `${exe(1, "/tmp/x")}\n${exe(7, "/opt/buzz/bin/buzz")}\n${exe(7, "/usr/bin/sleep")}`
    const taken = parseSnapshot(marker, "/opt/buzz/bin", output(forged))
    assert.deepStrictEqual(
      taken.processes.map(({ argv, exe }) => ({ argv, exe })),
      [
        { exe: "/tmp/x", argv: [] },
        { exe: undefined, argv: [] }
      ]
    )
  })
})

describe("parsePorts", () => {
  it("finds the listening ports of each process, of both address families", () => {
    const text = [
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0 100 0 0 10 0",
      "   1: 0100007F:0050 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 222 1 0 100 0 0 10 0",
      "   0: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 333 1",
      "pid 7",
      "lrwx------ 1 0 0 64 Nov 30 03:00 3 -> socket:[333]",
      "lrwx------ 1 0 0 64 Nov 30 03:00 4 -> socket:[111]",
      "lrwx------ 1 0 0 64 Nov 30 03:00 5 -> socket:[222]",
      "pid 8",
      "lr-x------ 1 0 0 64 Nov 30 03:00 0 -> /dev/null"
    ].join("\n")
    assert.deepStrictEqual([...parsePorts(text)], [[7, [22, 8080]]])
  })
})
