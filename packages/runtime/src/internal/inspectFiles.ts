/**
 * Reads every file of a bundle once: for its digest, and for secrets.
 */
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { Effect, FileSystem, Stream } from "effect"
import type { Redactor } from "../Redaction.ts"
import * as SecretScan from "../SecretScan.ts"
import type { TrialDirectory } from "../TrialDirectory.ts"

/** What was found in the files. */
export interface Inspection {
  /** sha256 by name, 64 lower-case hex digits. */
  readonly digests: Readonly<Record<string, string>>
  readonly findings: ReadonlyArray<SecretScan.SecretFinding>
}

export const inspectFiles = Effect.fnUntraced(function* (
  directory: Pick<TrialDirectory, "at">,
  files: ReadonlyArray<string>,
  redactor: Redactor
) {
  const fs = yield* FileSystem.FileSystem
  const inspected = yield* Effect.forEach(
    files,
    Effect.fnUntraced(function* (path) {
      const hash = Sha256.incremental()
      let scan = SecretScan.initial
      yield* Stream.runForEach(fs.stream(directory.at(path)), (bytes) =>
        Effect.sync(() => {
          hash.update(bytes)
          scan = SecretScan.feed(redactor, scan, bytes)
        })
      )
      const findings = SecretScan.finish(redactor, scan).map((finding) => ({ path, ...finding }))
      return { path, digest: hash.digest(), findings }
    })
  )
  const inspection: Inspection = {
    digests: Object.fromEntries(inspected.map(({ digest, path }) => [path, digest])),
    findings: inspected.flatMap(({ findings }) => findings)
  }
  return inspection
})
