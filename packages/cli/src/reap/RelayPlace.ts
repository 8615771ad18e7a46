/**
 * Relays as a place where something may be left: the channels of trials whose command was killed, as they are remembered on
 * this machine.
 */
import { HostProcess } from "@buzz-orchestra/runtime/docker/HostProcess"
import { fateOf } from "@buzz-orchestra/runtime/docker/OwnerLabels"
import { Effect, type FileSystem, type Path } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import * as Failure from "../Failure.ts"
import * as SavedTrials from "../SavedTrials.ts"
import type { Place, PlaceReport, Thing } from "./Place.ts"

/** The saved trials of this user. One whose channel is to stay is kept. */
export const relayPlace: Place<FileSystem.FileSystem | Path.Path | ChildProcessSpawner.ChildProcessSpawner> = {
  name: "relays",
  reap: (dryRun) =>
    Effect.gen(function* () {
      const report: Report = { removed: [], kept: [], refused: [] }
      for (const saved of yield* SavedTrials.list) yield* decide(saved, dryRun, report)
      return report
    }).pipe(
      Effect.provide(HostProcess.layer),
      // Where trials cannot be read none can be taken down.
      Effect.catch((error) => Effect.succeed({ absent: Failure.renderReason(error.reason).line }))
    )
}

type Report = { readonly [Kind in keyof PlaceReport]: Array<PlaceReport[Kind][number]> }
/** A trial as it is remembered. */
export type Saved = Effect.Success<typeof SavedTrials.list>[number]

const decide = Effect.fnUntraced(function* (saved: Saved, dryRun: boolean, report: Report) {
  const { knowsOthers, self, startTimeOf } = yield* HostProcess
  const { note } = saved
  const startTime = note === undefined ? undefined : yield* startTimeOf(note.owner.pid)
  const here = knowsOthers ? { machine: self.machine, host: self.host, startTimeOf: () => startTime } : undefined
  const { isGone, why } = fateOf(note?.owner, here)
  const thing: Thing = { kind: "channel", name: saved.channelId, label: `${saved.trialId} on ${saved.relayUrl}`, why }
  if (!isGone || note === undefined) return void report.kept.push(thing)
  if (note.keepsChannel) return void report.kept.push({ ...thing, why: "it is to stay" })
  if (dryRun) return void report.removed.push(thing)
  // Loaded only when there is something to do: it brings the relay's client.
  const { takeDown } = yield* Effect.promise(() => import("./takeDown.ts"))
  const detail = yield* takeDown(saved, note)
  if (detail === undefined) report.removed.push(thing)
  else report.refused.push({ ...thing, detail })
})
