/**
 * What `show` and `bundle` do with the directory of a trial.
 */
import * as Bundle from "@buzz-orchestra/runtime/Bundle"
import * as BundleFinish from "@buzz-orchestra/runtime/BundleFinish"
import * as BundleVerification from "@buzz-orchestra/runtime/BundleVerification"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import type { SecretFinding } from "@buzz-orchestra/runtime/SecretScan"
import { Config, Effect, FileSystem, Option, Redacted } from "effect"
import { secretsRefused } from "./BundleSecrets.ts"
import {
  BundleNotReadable,
  BundleNotVerified,
  CommandError,
  type CommandReason,
  PageNotWritten
} from "./CommandError.ts"
import { oneLine } from "./internal/terminalText.ts"
import { Output } from "./Output.ts"
import { showLines } from "./ShowLines.ts"
import { showPage } from "./ShowPage.ts"
import { trialReport } from "./TrialReport.ts"

/** The directory as it was typed, and what else to look for. */
export interface BundleRequest {
  readonly directory: string
  /** Variables that hold further secrets. */
  readonly secrets: ReadonlyArray<string>
  readonly json: boolean
}

/** Completes the bundle and says what was written. */
export const finish = Effect.fn("BundleCommands.finish")(function* ({ directory, json, secrets }: BundleRequest) {
  const output = yield* Output
  const because = reason("bundle finish")
  const redactor = yield* because(redactorFor(directory, secrets))
  const { summary, written } = yield* because(BundleFinish.finish(directory, redactor))
  const said = written.length === 0 ? "it was complete" : `wrote ${written.join(", ")}`
  const { outcome, verdict } = summary
  const text = json
    ? JSON.stringify({ directory, written, outcome, verdict }, undefined, 2)
    : `${directory}: ${said}\n${outcome ?? "no outcome"}, ${verdict}: ${oneLine(summary.detail)}`
  yield* output.write(`${text}\n`)
  yield* refuseSecrets("bundle finish", directory, summary.secret_scan.findings)
})

/** Checks the bundle; fails when anything is wrong with it, with everything told before. */
export const verify = Effect.fn("BundleCommands.verify")(function* ({ directory, json, secrets }: BundleRequest) {
  const output = yield* Output
  const because = reason("bundle verify")
  const redactor = yield* because(redactorFor(directory, secrets))
  const found = yield* because(BundleVerification.verify(directory, redactor))
  // Agents name artifacts as they like.
  const problems = found.problems.map(({ line, path, problem }) =>
    oneLine(`${path}${line === undefined ? "" : `:${line}`}: ${problem}`)
  )
  const report = { directory, files: found.files, problems: found.problems, secrets: found.secrets }
  const fine = problems.length === 0 && found.secrets.length === 0
  const lines = fine ? [`${directory}: ${found.files} files, all as they should be`] : problems
  const text = json ? JSON.stringify(report, undefined, 2) : lines.join("\n")
  if (text !== "") yield* output.write(`${text}\n`)
  yield* refuseSecrets("bundle verify", directory, found.secrets)
  const [first] = problems
  if (first !== undefined)
    return yield* because(Effect.fail(new BundleNotVerified({ directory, count: problems.length, first })))
})

/** Shows the trial. */
export const show = Effect.fn("BundleCommands.show")(function* (request: {
  readonly directory: string
  readonly json: boolean
  readonly html: Option.Option<string>
}) {
  const output = yield* Output
  const because = reason("show")
  const bundle = yield* because(Bundle.read(request.directory))
  const report = trialReport(bundle, request.directory)
  if (Option.isSome(request.html)) {
    const fs = yield* FileSystem.FileSystem
    const file = request.html.value
    const writing = Effect.mapError(
      fs.writeFileString(file, showPage(report)),
      ({ message }) => new PageNotWritten({ file, detail: message })
    )
    yield* because(writing)
  }
  if (request.json) return yield* output.write(`${JSON.stringify(report, undefined, 2)}\n`)
  if (Option.isSome(request.html)) return yield* output.write(`${request.html.value}\n`)
  const { columns } = yield* output.size
  yield* output.write(
    showLines(report, { columns, style: output.style })
      .map((line) => `${line}\n`)
      .join("")
  )
})

const reason =
  (command: string) =>
  <A, R>(effect: Effect.Effect<A, CommandReason | Bundle.BundleUnreadable, R>): Effect.Effect<A, CommandError, R> =>
    Effect.mapError(effect, (error) => {
      const reason =
        error._tag === "BundleUnreadable"
          ? new BundleNotReadable({ directory: error.directory, detail: error.detail })
          : error
      return new CommandError({ command, reason })
    })

const refuseSecrets = Effect.fnUntraced(function* (
  command: string,
  directory: string,
  findings: ReadonlyArray<SecretFinding>
) {
  const refused = secretsRefused(directory, findings)
  if (refused !== undefined) return yield* new CommandError({ command, reason: refused })
})

/** Knows the API keys that the bundle names the variables of, as far as they are set here, and those that were asked for. */
const redactorFor = Effect.fnUntraced(function* (directory: string, names: ReadonlyArray<string>) {
  const { config } = yield* Bundle.read(directory)
  const variables = [...Object.keys(config?.agent.env ?? {}), ...names]
  const values = yield* Effect.forEach(variables, (name) =>
    Effect.orElseSucceed(Config.option(Config.String(name)), () => Option.none<string>())
  )
  return Redaction.make(values.flatMap(Option.toArray).map((value) => Redacted.make(value)))
})
