/**
 * `artifacts/manifest.json`: what became of the artifacts of a trial, as Harbor 0.22 lists them. Pure.
 */
import { Schema } from "effect"
import { COLLECTED } from "./BundleFiles.ts"
import type { EnvironmentFacts } from "./EnvironmentService.ts"

/**
 * `ok`: all of it was collected. `empty`: nothing was there. `failed`: some of it, or all, could not be collected; the warnings of
 * the summary say what. `skipped`: the trial did not come so far that anything could be there.
 */
export const ArtifactStatus = Schema.Literals(["ok", "empty", "failed", "skipped"])
/** What became of an artifact. */
export type ArtifactStatus = typeof ArtifactStatus.Type

/** The whole document. */
export const ArtifactManifest = Schema.Array(
  Schema.Struct({
    /** Inside the environment. */
    source: Schema.String,
    /** Below the trial directory. */
    destination: Schema.String,
    type: Schema.Literals(["file", "directory"]),
    status: ArtifactStatus,
    /** Of a task of several containers, which; this runtime has one. */
    service: Schema.NullOr(Schema.String)
  })
)
/** The whole document. */
export type ArtifactManifest = typeof ArtifactManifest.Type

/** The folder in the environment whose contents are always collected. */
export const folderOf = ({ logsDirectory }: Pick<EnvironmentFacts, "logsDirectory">): string =>
  `${logsDirectory}/artifacts`

/** The document of a trial whose artifacts were in `source`. */
export const of = (source: string, status: ArtifactStatus): ArtifactManifest => [
  { source, destination: COLLECTED, type: "directory", status, service: null }
]
