/**
 * This machine as a place where something may be left.
 */
import { HostProcess } from "@buzz-orchestra/runtime/docker/HostProcess"
import type { LocalDecision } from "@buzz-orchestra/runtime/LocalReapPlan"
import { LocalReaper } from "@buzz-orchestra/runtime/LocalReaper"
import { Effect, type FileSystem, Layer, type Path } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import type { Place, Thing } from "./Place.ts"

/** Processes and temporary directories. */
export const localPlace: Place<ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path> = {
  name: "this machine",
  reap: (dryRun) =>
    LocalReaper.use(({ reap }) => reap({ dryRun })).pipe(
      Effect.map(({ kept, refused, removed }) => ({
        removed: removed.map(thingOf),
        kept: kept.map(thingOf),
        refused: refused.map(({ decision, detail }) => ({ ...thingOf(decision), detail }))
      })),
      Effect.provide(LocalReaper.layer.pipe(Layer.provide(HostProcess.layer)))
    )
}

const thingOf = ({ object, why }: LocalDecision): Thing =>
  object.kind === "process"
    ? { kind: object.kind, name: String(object.pid), label: object.command, why }
    : { kind: object.kind, name: object.path, label: "", why }
