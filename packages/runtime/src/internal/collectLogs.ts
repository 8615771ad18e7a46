/**
 * Makes sure that this machine has every byte of the stack's logs. The watch delivers them as they are written, so that
 * normally there is nothing left to do but to compare sizes.
 */
import { Effect, FileSystem, Path } from "effect"
import type { Supervision } from "../AgentSupervisor.ts"
import { EnvironmentError, TransferFailed } from "../EnvironmentError.ts"
import { EnvironmentService } from "../EnvironmentService.ts"
import type { Layout } from "../Layout.ts"
import type { LogCapture } from "../LogCapture.ts"
import * as Redaction from "../Redaction.ts"
import type { TrialDirectory } from "../TrialDirectory.ts"
import * as latin1 from "./latin1.ts"
import { quote } from "./shellText.ts"

export interface CollectLogsOptions {
  readonly layout: Layout
  readonly capture: LogCapture
  readonly supervision: Pick<Supervision, "caughtUp">
  readonly directory: TrialDirectory
  readonly redactor: Redaction.Redactor
  readonly warn: (detail: string) => Effect.Effect<void>
}

/** A watch that is alive needs two of its rounds to deliver what is there. */
const CATCH_UP_DEADLINE = "5 seconds"

/** Finishes the logs and fetches what the watch did not deliver. */
export const collectLogs = Effect.fnUntraced(function* (options: CollectLogsOptions) {
  const { capture, warn } = options
  const caughtUp = yield* Effect.result(Effect.timeout(options.supervision.caughtUp, CATCH_UP_DEADLINE))
  if (caughtUp._tag === "Failure")
    yield* warn(`the watch did not deliver the last of the logs: ${caughtUp.failure.message}`)
  yield* capture.finish
  const received = yield* capture.received
  for (const [name, size] of yield* sizesInside(options.layout)) {
    const missing = size - (received.get(name) ?? 0)
    if (missing > 0) {
      yield* warn(`${missing} of ${size} bytes of ${name} did not come through the watch and are fetched`)
      yield* fetch(options, name)
    } else if (missing < 0) {
      yield* warn(`${name} is ${-missing} bytes shorter than what was read of it: something in the environment cut it`)
    }
  }
})

const sizesInside = Effect.fnUntraced(function* (layout: Layout) {
  const { exec } = yield* EnvironmentService
  const { stdout } = yield* exec(
    `cd ${quote(layout.logs)} && for f in *.log; do [ -f "$f" ] && printf '%s %s\\n' "$(wc -c <"$f")" "$f"; done; :`
  )
  return new Map(
    stdout.split("\n").flatMap((line): ReadonlyArray<readonly [string, number]> => {
      const [, size, name] = /^\s*(\d+) (.+)$/.exec(line) ?? []
      return size === undefined || name === undefined ? [] : [[name, Number(size)]]
    })
  )
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
