/**
 * Makes sure that this machine has every byte of the stack's logs. The watch delivers them as they are written, so that
 * normally there is nothing left to do but to compare sizes.
 */
import { Effect, FileSystem, Path, Result } from "effect"
import type { Supervision } from "../AgentSupervisor.ts"
import { EnvironmentError, TransferFailed } from "../EnvironmentError.ts"
import { EnvironmentService } from "../EnvironmentService.ts"
import type { Layout } from "../Layout.ts"
import type { LogCapture } from "../LogCapture.ts"
import * as Redaction from "../Redaction.ts"
import type { TrialDirectory } from "../TrialDirectory.ts"
import { parseSizes, sizesScript } from "./exitScript.ts"
import * as latin1 from "./latin1.ts"

export interface CollectLogsOptions {
  readonly layout: Layout
  readonly capture: LogCapture
  readonly supervision: Pick<Supervision, "handled">
  readonly directory: TrialDirectory
  readonly redactor: Redaction.Redactor
  readonly warn: (detail: string) => Effect.Effect<void>
}

/** A watch that is alive delivers what is there within a round or two. */
const WATCH_DEADLINE = "5 seconds"

/** Finishes the logs and fetches what the watch did not deliver. */
export const collectLogs = Effect.fnUntraced(function* (options: CollectLogsOptions) {
  const { capture, layout, supervision, warn } = options
  const { exec } = yield* EnvironmentService
  const sizes = parseSizes((yield* exec(sizesScript(layout.logs))).stdout)
  const delivered = yield* Effect.result(Effect.timeout(supervision.handled(sizes), WATCH_DEADLINE))
  if (Result.isFailure(delivered))
    yield* warn(`the watch did not deliver the last of the logs: ${delivered.failure.message}`)
  yield* capture.finish
  const received = yield* capture.received
  for (const [name, size] of sizes) {
    const missing = size - (received.get(name) ?? 0)
    if (missing > 0) {
      yield* warn(`${missing} of ${size} bytes of ${name} did not come through the watch and are fetched`)
      yield* fetch(options, name)
    } else if (missing < 0) {
      yield* warn(`${name} is ${-missing} bytes shorter than what was read of it: something in the environment cut it`)
    }
  }
})

/** The whole file, because only its beginning is here and a secret may lie across the border. */
const fetch = Effect.fnUntraced(
  function* ({ directory, layout, redactor }: CollectLogsOptions, name: string) {
    const environment = yield* EnvironmentService
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const source = `${layout.logs}/${name}`
    yield* Effect.gen(function* () {
      const copy = path.join(yield* fs.makeTempDirectoryScoped(), "log")
      yield* environment.download(source, copy)
      const text = latin1.toText(yield* fs.readFile(copy))
      yield* fs.writeFile(directory.at(name), latin1.toBytes(Redaction.apply(redactor, text)))
    }).pipe(
      Effect.catchTag("PlatformError", ({ message }) =>
        Effect.fail(
          new EnvironmentError({
            operation: "collect",
            reason: new TransferFailed({
              environment: environment.facts.name,
              direction: "download",
              path: source,
              detail: message
            })
          })
        )
      )
    )
  },
  (effect) => Effect.scoped(effect)
)
