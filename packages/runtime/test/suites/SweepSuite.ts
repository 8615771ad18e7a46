/** The sweep, with processes that do not want to end. */
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { sweep } from "@buzz-orchestra/runtime/Sweep"
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { encode } from "../support/bytes.ts"
import { type EnvironmentIt, follow, gone, isAlive, output, scratch } from "../support/environment.ts"
import { eventually } from "../support/shells.ts"

/** Programs of a stack, each with one vice. They say that they are ready by a file beside them. */
const PROGRAMS = {
  obedient: "sleep 1000 &\n: >$0.ready\nwait",
  stubborn: "trap '' TERM\n: >$0.ready\nwhile :; do sleep 1; done",
  stopped: ": >$0.ready\nkill -STOP $$\nsleep 1000",
  parent: "setsid sh -c 'sleep 1000; :' &\n(setsid sleep 1000.5 &)\n: >$0.ready\nwait"
} as const

/** A folder for programs of the stack and one for others, with every program in both. */
const stack = Effect.gen(function* () {
  const environment = yield* EnvironmentService
  const place = yield* scratch
  for (const folder of ["bin", "other"]) {
    for (const [name, text] of Object.entries(PROGRAMS)) {
      yield* environment.upload({ content: encode(`#!/bin/sh\n${text}\n`) }, `${place}/${folder}/${name}`, {
        mode: 0o755
      })
    }
    // Busybox's copy must keep its name: it decides what it is.
    yield* output(`cp /bin/sleep ${place}/${folder}/sleep`)
  }
  return { place, bin: `${place}/bin` }
})

/** Starts a command in the background, with a session of its own, and gives its identity. */
const launch = Effect.fnUntraced(function* (command: string) {
  const pid = Number(yield* output(`setsid ${command} >/dev/null 2>&1 </dev/null & echo $!`))
  const stat = yield* output(`cat /proc/${pid}/stat`)
  return { pid, startTime: stat.replace(/^.*\) /, "").split(" ")[19] }
})

/** The same, once the program has said that it is ready. */
const launchReady = Effect.fnUntraced(function* (program: string) {
  const root = yield* launch(program)
  yield* eventually(output(`ls ${program}.ready 2>/dev/null || :`), (text) => text !== "")
  return root
})

const pidsOf = (processes: ReadonlyArray<{ readonly pid: number }>) => processes.map(({ pid }) => pid)

export const sweepSuite = (it: EnvironmentIt): void => {
  describe("sweep", () => {
    it.effect("ends launched programs and their descendants: by TERM those that obey, by KILL the others", () =>
      Effect.gen(function* () {
        const { bin, place } = yield* stack
        const obedient = yield* launchReady(`${place}/other/obedient`)
        const stubborn = yield* launchReady(`${place}/other/stubborn`)
        const stopped = yield* launchReady(`${place}/other/stopped`)
        yield* eventually(output(`cat /proc/${stopped.pid}/stat`), (stat) => / T /.test(stat))
        const children = (yield* output(`cat /proc/[0-9]*/stat 2>/dev/null || :`))
          .split("\n")
          .flatMap((line) => (line.includes(`) S ${obedient.pid} `) ? [Number(line.split(" ")[0])] : []))
        const report = yield* sweep({ roots: [obedient, stubborn, stopped], bin })
        assert.includeMembers(pidsOf(report.terminated), [obedient.pid, stopped.pid, ...children])
        assert.strictEqual(children.length, 1)
        assert.includeMembers(pidsOf(report.killed), [stubborn.pid])
        assert.deepStrictEqual(report.survivors, [])
        for (const pid of [obedient.pid, stubborn.pid, stopped.pid, ...children]) assert.isFalse(yield* isAlive(pid))
        const again = yield* sweep({ roots: [obedient, stubborn, stopped], bin })
        assert.deepStrictEqual([again.terminated, again.killed], [[], []])
      })
    )

    it.effect("ends what runs from bin although nobody launched it, and nothing that only mentions bin", () =>
      Effect.gen(function* () {
        const { bin, place } = yield* stack
        const script = yield* launchReady(`${bin}/obedient`)
        const compiled = yield* launch(`${bin}/sleep 1000`)
        const mention = yield* launch(`tail -f ${bin}/obedient`)
        const inline = yield* launch(`sh -c 'sleep 1000; :' ${bin}/obedient`)
        const outside = yield* launch(`${place}/other/sleep 1000`)
        const report = yield* sweep({ roots: [], bin })
        assert.includeMembers(pidsOf(report.terminated), [script.pid, compiled.pid])
        assert.includeMembers(pidsOf(report.spared), [mention.pid, inline.pid, outside.pid])
        for (const { pid } of [mention, inline, outside]) assert.isTrue(yield* isAlive(pid))
        const all = yield* sweep({ roots: [], bin, all: true })
        assert.includeMembers(pidsOf(all.terminated), [mention.pid, inline.pid, outside.pid])
        assert.deepStrictEqual(all.spared, [])
      })
    )

    it.effect("reaches children in sessions of their own, spares a detached service and lists it", () =>
      Effect.gen(function* () {
        const { bin, place } = yield* stack
        const parent = yield* launchReady(`${place}/other/parent`)
        const report = yield* sweep({ roots: [parent], bin })
        assert.include(pidsOf(report.terminated), parent.pid)
        assert.isAtLeast(report.terminated.length, 2)
        const [service] = report.spared.filter(({ command }) => command.includes("1000.5"))
        assert.isTrue(service !== undefined && (yield* isAlive(service.pid)))
        const all = yield* sweep({ roots: [], bin, all: true })
        assert.include(pidsOf(all.terminated), service?.pid)
      })
    )

    it.effect("does not take a recycled pid for the program launched, and leaves alone whom it is told to", () =>
      Effect.gen(function* () {
        const { bin, place } = yield* stack
        const other = yield* launch(`${place}/other/sleep 1000`)
        const spared = yield* launch(`${bin}/sleep 1000`)
        const report = yield* sweep({ roots: [{ ...other, startTime: "1" }], bin, spare: [spared.pid] })
        assert.deepStrictEqual([report.terminated, report.killed], [[], []])
        assert.includeMembers(pidsOf(report.spared), [other.pid, spared.pid])
        yield* output(`kill ${other.pid} ${spared.pid}`)
        yield* gone(other.pid)
      })
    )

    it.effect("never ends the shells and the watch it is seen through", () =>
      Effect.gen(function* () {
        const { bin, place } = yield* stack
        const watch = yield* follow(place)
        yield* watch.caughtUp
        const report = yield* sweep({ roots: [{ pid: 1, startTime: undefined }], bin, all: true })
        assert.deepStrictEqual(report.survivors, [])
        yield* output(`echo after >${place}/a.log`)
        yield* watch.awaitLog("a.log", (text) => text === "after\n")
      })
    )
  })
}
