/**
 * Copies out of a trial's environment what a person wants to have of it. Once the environment has ended, nothing of it is left.
 */
import type { EnvironmentError } from "@buzz-orchestra/runtime/EnvironmentError"
import type { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { Effect } from "effect"
import type { Download } from "./TrialRequest.ts"

/** A download, and where the environment has it: elsewhere than it was asked for where there is no sandbox. */
export interface PlacedDownload extends Download {
  readonly path: string
}

/** How many files that could not be read are named. */
const NAMED = 5

/** Copies them one after the other, folders whole; what is there already is written over. The first that cannot be had ends it. */
export const collect =
  ({ download, downloadDirectory, exec }: EnvironmentService["Service"], downloads: ReadonlyArray<PlacedDownload>) =>
  (note: (text: string) => Effect.Effect<void>): Effect.Effect<void, EnvironmentError> =>
    Effect.forEach(
      downloads,
      Effect.fnUntraced(function* ({ path, source, target }) {
        const { exitCode } = yield* exec('[ -d "$BUZZ_DOWNLOAD" ]', { env: { BUZZ_DOWNLOAD: path } })
        if (exitCode !== 0) yield* download(path, target)
        else {
          const unreadable = yield* downloadDirectory(path, target)
          if (unreadable.length > 0) yield* note(`of ${source}, these could not be read: ${list(unreadable)}`)
        }
        yield* note(`${source} is in ${target}`)
      }),
      { discard: true }
    )

const list = (files: ReadonlyArray<string>): string =>
  files.length <= NAMED ? files.join(", ") : `${files.slice(0, NAMED).join(", ")} and ${files.length - NAMED} more`
