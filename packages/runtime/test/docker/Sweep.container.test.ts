/** What makes a sweep miss its targets or hit itself in a container. The rule itself is held to in the contract's own suite. */
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import type { DockerEnvironmentOptions } from "@buzz-orchestra/runtime/docker/DockerEnvironmentOptions"
import { sweep } from "@buzz-orchestra/runtime/Sweep"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { encode } from "../support/bytes.ts"
import { isAlive, output } from "../support/environment.ts"
import { canMake, type TestImage } from "./images/TestImages.ts"
import { running } from "./support/container.ts"
import { containerTests } from "./support/containerTests.ts"
import { engineLayer, environmentOf, flavor, image } from "./support/engine.ts"

const BIN = "/opt/buzz/bin"

const within = (name: TestImage, options: Partial<DockerEnvironmentOptions> = {}) =>
  Effect.provide(environmentOf(name, options))

/** Starts commands of bash in sessions of their own; their pids. */
const start = (commands: ReadonlyArray<string>) =>
  Effect.forEach(commands, (command) =>
    Effect.map(output(`setsid bash -c '${command}' >/dev/null 2>&1 </dev/null & echo $!`), Number)
  )

/** Programs in `bin`: a copy of `sleep`, and a script. */
const programs = Effect.gen(function* () {
  const environment = yield* EnvironmentService
  yield* output(`mkdir -p ${BIN} && cp /bin/sleep ${BIN}/worker && cp /bin/sleep ${BIN}/gone`)
  yield* environment.upload({ content: encode("#!/bin/sh\nwhile :; do sleep 1; done\n") }, `${BIN}/script`, {
    mode: 0o755
  })
})

/** Waits until each process has become the program of this name. */
const named = (pids: ReadonlyArray<number>, names: ReadonlyArray<string>) =>
  output(pids.map((pid, at) => `until [ "$(cat /proc/${pid}/comm)" = ${names[at]} ]; do sleep 0.01; done`).join("\n"))

const pidsOf = (processes: ReadonlyArray<{ readonly pid: number }>) => processes.map(({ pid }) => pid)

containerTests("sweep in a container", () => {
  layer(engineLayer, { excludeTestServices: true })((it) => {
    it.effect.skipIf(!canMake.bash)("finds programs of bin under whatever name and environment they run", () =>
      Effect.gen(function* () {
        yield* programs
        const pids = yield* start([
          `exec -a innocent ${BIN}/worker 1000`,
          `cd ${BIN} && exec ./worker 1000`,
          `exec env -i ${BIN}/worker 1000`,
          `exec ${BIN}/gone 1000`,
          `exec ${BIN}/script`,
          `exec ${BIN}/../bin/worker 1000`
        ])
        // A name that looks like the end of one, in the line that is read for the state and the parent.
        const [renamed = 0] = yield* start([`printf ") Z 1 1" >/proc/$$/comm; ${BIN}/worker 1000; :`])
        const mention = yield* start([`exec tail -f ${BIN}/script`])
        yield* named([...pids, ...mention], ["worker", "worker", "worker", "gone", "script", "worker", "tail"])
        yield* output(`rm ${BIN}/gone`)
        const report = yield* sweep({ roots: [{ pid: renamed, startTime: undefined }], bin: BIN })
        assert.includeMembers([...pidsOf(report.terminated), ...pidsOf(report.killed)], [...pids, renamed])
        assert.deepStrictEqual(report.survivors, [])
        for (const pid of [...pids, renamed]) assert.isFalse(yield* isAlive(pid), String(pid))
        assert.deepStrictEqual(pidsOf(report.spared), mention)
      }).pipe(within("bash"))
    )

    it.effect.skipIf(!canMake.bash)("takes what nobody reaps for ended", () =>
      Effect.gen(function* () {
        const id = yield* running({ Image: yield* image("bash") })
        yield* Effect.gen(function* () {
          yield* programs
          const pids = yield* start([`exec ${BIN}/worker 1000`, `exec ${BIN}/script`])
          const report = yield* sweep({ roots: [], bin: BIN })
          assert.deepStrictEqual(report.survivors, [])
          for (const pid of pids) assert.isFalse(yield* isAlive(pid), String(pid))
          const again = yield* sweep({ roots: [], bin: BIN })
          assert.deepStrictEqual([again.terminated, again.killed, again.survivors], [[], [], []])
        }).pipe(within("bash", { source: { _tag: "Container", id } }))
      })
    )

    for (const init of flavor === "docker" ? [false, true] : [false]) {
      it.effect.skipIf(!canMake.bash)(
        `ends all but PID 1 and what belongs to it ${init ? "with" : "without"} an init`,
        () =>
          Effect.gen(function* () {
            yield* programs
            const pids = yield* start(["exec sleep 1000", `exec ${BIN}/worker 1000`])
            const report = yield* sweep({ roots: [], bin: BIN, all: true })
            assert.deepStrictEqual([report.survivors, report.spared], [[], []])
            for (const pid of pids) assert.isFalse(yield* isAlive(pid), String(pid))
            // The shell, the container and its way of ending are still there.
            assert.match(yield* output("cat /proc/[0-9]*/cmdline | tr '\\\\0' ' '"), /buzz-idle/)
            const { exec } = yield* EnvironmentService
            assert.strictEqual((yield* exec("echo on")).stdout, "on\n")
          }).pipe(within("bash", { init }))
      )
    }

    it.effect.skipIf(!canMake.bash)("ends what the image's own user started", () =>
      Effect.gen(function* () {
        yield* programs
        const pids = yield* start([`exec ${BIN}/worker 1000`, `exec ${BIN}/script`])
        const report = yield* sweep({ roots: [], bin: BIN })
        assert.deepStrictEqual(report.survivors, [])
        for (const pid of pids) assert.isFalse(yield* isAlive(pid), String(pid))
      }).pipe(within("nonRoot"))
    )
  })
})
