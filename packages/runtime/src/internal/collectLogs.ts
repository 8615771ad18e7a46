/**
 * Makes sure that this machine has every byte of the stack's logs. The watch delivers them as they are written, so that
 * normally there is nothing left to do but to compare sizes.
 */
import { Effect, Exit, FileSystem, Path, Result } from "effect"
import type { Supervision } from "../AgentSupervisor.ts"
import { inBundle } from "../BundleFiles.ts"
import { EnvironmentError, TransferFailed } from "../EnvironmentError.ts"
import { EnvironmentService } from "../EnvironmentService.ts"
import type { Layout } from "../Layout.ts"
import type { LogCapture } from "../LogCapture.ts"
import * as OwnedDirectory from "../OwnedDirectory.ts"
import type * as Redaction from "../Redaction.ts"
import type { TrialDirectory } from "../TrialDirectory.ts"
import { sentence } from "./bounded.ts"
import { parseSizes, sizesScript } from "./exitScript.ts"
import { redactedStream } from "./redactedStream.ts"

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

/**
 * Finishes the logs, fetches what the watch did not deliver, and returns what was fetched. What goes wrong with
 * one log does not cost another.
 */
export const collectLogs = Effect.fnUntraced(function* (options: CollectLogsOptions) {
  const { capture, warn } = options
  // What is held back is written whatever becomes of the rest.
  const sizes = yield* Effect.ensuring(awaitDelivery(options), capture.finish)
  const received = yield* capture.received
  const failures: Array<EnvironmentError> = []
  const names = new Set<string>()
  for (const [name, size] of sizes) {
    const missing = size - (received.get(name) ?? 0)
    if (missing > 0) {
      yield* warn(`${missing} of ${size} bytes of ${name} did not come through the watch and are fetched`)
      const fetched = yield* Effect.result(fetch(options, name))
      if (Result.isFailure(fetched)) failures.push(fetched.failure)
      else names.add(inBundle(name))
    } else if (missing < 0) {
      yield* warn(`${name} is ${-missing} bytes shorter than what was read of it: something in the environment cut it`)
    }
  }
  const [first, ...others] = failures
  for (const other of others) yield* warn(other.message)
  if (first !== undefined) return yield* first
  return names
})

/** The sizes of all logs, once the watch has delivered so much or is known not to. */
const awaitDelivery = Effect.fnUntraced(function* ({ layout, supervision, warn }: CollectLogsOptions) {
  const { exec } = yield* EnvironmentService
  const sizes = parseSizes((yield* exec(sizesScript(layout.logs))).stdout)
  const delivered = yield* Effect.exit(Effect.timeout(supervision.handled(sizes), WATCH_DEADLINE))
  if (Exit.isFailure(delivered))
    yield* warn(`the watch did not deliver the last of the logs: ${sentence(delivered.cause)}`)
  return sizes
})

/** The whole file, because only its beginning is here and a secret may lie across the border. */
const fetch = Effect.fnUntraced(
  function* ({ directory, layout, redactor }: CollectLogsOptions, name: string) {
    const environment = yield* EnvironmentService
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const source = `${layout.logs}/${name}`
    yield* Effect.gen(function* () {
      const copy = path.join(yield* OwnedDirectory.make, "log")
      yield* environment.download(source, copy)
      yield* directory.writeStream(inBundle(name), redactedStream(fs.stream(copy), redactor))
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
