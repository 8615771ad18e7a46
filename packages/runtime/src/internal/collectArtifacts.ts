/**
 * Copies what a trial left in the environment's folder of artifacts into the trial directory: whatever is there, as far as it fits,
 * secrets taken out on the way. It is another's: nothing of it decides where anything is written here, and a link counts only as the
 * file of the same folder that it leads to.
 */
import { Duration, Effect, FileSystem, Option, Path, Result } from "effect"
import * as ArtifactManifest from "../ArtifactManifest.ts"
import { COLLECTED } from "../BundleFiles.ts"
import { type DownloadLimits, EnvironmentService } from "../EnvironmentService.ts"
import * as OwnedDirectory from "../OwnedDirectory.ts"
import * as Redaction from "../Redaction.ts"
import { UNFINISHED } from "../TrialDirectory.ts"
import type { TrialRun } from "../TrialRuntime.ts"
import { type Below, filesBelow } from "./filesBelow.ts"
import { redactedStream } from "./redactedStream.ts"

/** The step of the clean-up. */
export const COLLECT_ARTIFACTS = "collect the artifacts"

/** As much as can be copied, read again and searched in a minute, twice. */
export const ARTIFACTS_DEADLINE = Duration.seconds(60)

/** What a trial may leave here. Larger things belong to a store; each file has its digest in the summary. */
const LIMITS: DownloadLimits = { maxBytes: 256 * 1024 * 1024, maxFiles: 2000 }

/** Names that a warning lists. */
const LISTED = 5

/** A step of the clean-up: whatever goes wrong is a warning, and the status that the manifest has. */
export const collectArtifacts = Effect.fnUntraced(function* (
  run: Pick<TrialRun, "directory" | "record">,
  redactor: Redaction.Redactor,
  limits = LIMITS
) {
  const { record } = run
  const copying = Effect.scoped(copy(run, redactor, limits))
  const collected = yield* record.step(COLLECT_ARTIFACTS, ARTIFACTS_DEADLINE, copying)
  if (Option.isNone(collected)) return yield* record.learn({ artifacts: "failed" })
  const { changed, kept, left, trouble } = collected.value
  if (changed.length > 0) yield* record.warn(`secrets were taken out of artifacts: ${listed(changed)}`)
  const because = trouble === undefined ? "" : ` (${trouble})`
  if (left.length > 0) yield* record.warn(`artifacts that were not collected: ${listed(left)}${because}`)
  yield* record.learn({ artifacts: left.length > 0 ? "failed" : kept === 0 ? "empty" : "ok" })
})

const listed = (names: ReadonlyArray<string>): string =>
  names
    .slice(0, LISTED)
    .map((name) => name.replaceAll(/\p{Cc}/gu, "?"))
    .join(", ") + (names.length > LISTED ? ` and ${names.length - LISTED} more` : "")

/** By way of a folder of this process: only there can be seen where a link leads. */
const copy = Effect.fnUntraced(function* (
  { directory }: Pick<TrialRun, "directory">,
  redactor: Redaction.Redactor,
  limits: DownloadLimits
) {
  const environment = yield* EnvironmentService
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(yield* OwnedDirectory.make, "artifacts")
  const source = ArtifactManifest.folderOf(environment.facts)
  const missing = yield* environment.downloadDirectory(source, folder, limits)
  const left = [...missing]
  const changed: Array<string> = []
  let trouble: string | undefined
  let [kept, bytes] = [0, 0]
  for (const { kind, name } of yield* filesBelow(folder)) {
    const file = mayBeNamed(name, redactor) ? yield* fileBehind(folder, { kind, name }) : undefined
    const size = file === undefined ? 0 : Number((yield* fs.stat(file)).size)
    // Links make many files of one.
    if (file === undefined || bytes + size > limits.maxBytes) {
      left.push(name)
      continue
    }
    bytes += size
    const onSecret = () => void (changed.at(-1) === name || changed.push(name))
    const clean = redactedStream(fs.stream(file), redactor, onSecret)
    const written = yield* Effect.result(directory.writeStream(`${COLLECTED}/${name}`, clean))
    if (Result.isSuccess(written)) kept++
    else {
      left.push(name)
      trouble ??= written.failure.message
    }
  }
  return { kept, changed, left: [...new Set(left)].toSorted(), trouble }
})

/** What is to be read for a name; `undefined` for what is no file, such as a link that leads out of the folder. */
const fileBehind = Effect.fnUntraced(function* (folder: string, { kind, name }: Below) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const at = path.join(folder, name)
  if (kind !== "link") return kind === "file" ? at : undefined
  const root = yield* fs.realPath(folder)
  const file = Option.getOrElse(yield* Effect.option(fs.realPath(at)), () => "")
  if (!file.startsWith(`${root}${path.sep}`)) return undefined
  return (yield* fs.stat(file)).type === "File" ? file : undefined
})

/** Names stand in documents; and a document that is being written has a name of its own. */
const mayBeNamed = (name: string, redactor: Redaction.Redactor): boolean =>
  !name.endsWith(UNFINISHED) && Redaction.apply(redactor, name) === name
