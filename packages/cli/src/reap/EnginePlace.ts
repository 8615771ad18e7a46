/**
 * The container engine as a place where something may be left. Loaded only when it is asked: its client is large.
 */
import { HostProcess } from "@buzz-orchestra/runtime/docker/HostProcess"
import { Reaper } from "@buzz-orchestra/runtime/docker/Reaper"
import type { ReapDecision } from "@buzz-orchestra/runtime/docker/ReapPlan"
import { Effect, type FileSystem, Layer, type Path } from "effect"
import * as ChosenEngine from "../ChosenEngine.ts"
import { renderReason } from "../Failure.ts"
import type { Place, PlaceReport, Thing } from "./Place.ts"

/** Containers and what was made for them, in the engine that a `docker` command typed here would use. */
export const enginePlace: Place<FileSystem.FileSystem | Path.Path> = {
  name: "the container engine",
  reap: (dryRun) =>
    Reaper.use(({ reap }) => reap({ dryRun })).pipe(
      Effect.map(({ kept, refused, removed }): PlaceReport => ({
        removed: removed.map(thingOf),
        kept: kept.map(thingOf),
        refused: refused.map(({ decision, detail }) => ({ ...thingOf(decision), detail }))
      })),
      Effect.provide(Reaper.layer.pipe(Layer.provide([ChosenEngine.layer("reap"), HostProcess.layer]))),
      // An engine that is not there has nothing of ours.
      Effect.catch((error) =>
        Effect.succeed({ absent: error._tag === "CommandError" ? renderReason(error.reason).line : error.message })
      )
    )
}

const thingOf = ({ object, why }: ReapDecision): Thing => ({ kind: object.kind, name: object.name, label: "", why })
