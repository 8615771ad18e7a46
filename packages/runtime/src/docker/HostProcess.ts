/**
 * Who this process is on which host, and whether another one still lives: what owner labels say and `Reaper` asks. Read from
 * `/proc`, and where there is none from `ps` (macOS), if programs can be started; else nobody is ever called dead.
 */
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { Clock, Context, Effect, FileSystem, Layer, Option } from "effect"
import { parseProcStat, type ProcStat } from "../internal/procStat.ts"
import { type PsSelf, psSelf, psStats } from "../internal/psTable.ts"
import { randomMarker } from "../internal/randomMarker.ts"
import type { Owner } from "./OwnerLabels.ts"

/** What identifies a process for as long as the host runs, and is used by no other. */
export type ProcessIdentity = Pick<Owner, "machine" | "host" | "pid" | "pidStartTime">

/** This process, and what can be told about others. */
export class HostProcess extends Context.Service<
  HostProcess,
  {
    readonly self: ProcessIdentity
    /** Whether the end of a process can be told here. When not, nothing is reaped. */
    readonly knowsOthers: boolean
    /** `undefined` when no such process lives. Only meaningful where `knowsOthers`. */
    startTimeOf(pid: number): Effect.Effect<string | undefined>
  }
>()("@buzz-orchestra/runtime/docker/HostProcess") {
  /** Looked up once; never fails. */
  static readonly layer: Layer.Layer<HostProcess, never, FileSystem.FileSystem> = Layer.effect(
    HostProcess,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const statOf = (pid: number | "self") =>
        Effect.map(Effect.option(fs.readFileString(`/proc/${pid}/stat`)), (line) =>
          Option.isNone(line) ? undefined : parseProcStat(line.value)
        )
      const startTimeOf = (pid: number) => Effect.map(statOf(pid), livingSince)
      const read = (path: string) =>
        Effect.map(
          Effect.option(fs.readFileString(path)),
          Option.getOrElse(() => "")
        )
      const boot = (yield* read("/proc/sys/kernel/random/boot_id")).trim()
      const space = yield* Effect.option(fs.readLink("/proc/self/ns/pid"))
      const stat = yield* statOf("self")
      if (boot === "" || Option.isNone(space) || stat === undefined) {
        const told = yield* psSelf
        return told === undefined ? yield* unknownHost : hostOfPs(told)
      }
      // A pid means something in its own namespace only, and the boot id is the same in all of them.
      const host = `${boot}/${space.value}`
      const machine = machineOf(yield* read("/etc/machine-id"), yield* read("/proc/sys/kernel/hostname"))
      const self = { machine, host, pid: stat.pid, pidStartTime: stat.startTime }
      return HostProcess.of({ self, knowsOthers: true, startTimeOf })
    })
  )
}

/** The machine id is not for others to see, and clones of a machine share it, but not its name. */
const machineOf = (id: string, name: string): string =>
  id.trim() === "" ? "" : Sha256.sha256(`buzz-orchestra ${id.trim()} ${name.trim()}`).slice(0, 32)

/** Pids mean the same to everybody there. */
const hostOfPs = ({ boot, stat }: PsSelf) =>
  HostProcess.of({
    self: { machine: "", host: `${boot}/all`, pid: stat.pid, pidStartTime: stat.startTime },
    knowsOthers: true,
    startTimeOf: (pid) => Effect.map(psStats(pid), ([found]) => livingSince(found))
  })

const livingSince = (stat: ProcStat | undefined): string | undefined =>
  stat === undefined || DEAD.has(stat.state) ? undefined : stat.startTime

const DEAD: ReadonlySet<string> = new Set(["Z", "X", "x"])

/** An identity that no other process has, so that nobody takes what is ours for somebody else's. */
const unknownHost = Effect.gen(function* () {
  const { text } = yield* randomMarker
  const started = yield* Clock.currentTimeMillis
  return HostProcess.of({
    self: { machine: "", host: `unknown/${text.slice(1)}`, pid: 1, pidStartTime: String(started) },
    knowsOthers: false,
    startTimeOf: () => Effect.as(Effect.void, undefined)
  })
})
