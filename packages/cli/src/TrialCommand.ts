/**
 * One trial as a command: prepare, start relay and environment, run and show. `run` and `demo` differ in what they ask for.
 */
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import { Clock, Effect } from "effect"
import type { EnvironmentName } from "./EnvironmentName.ts"
import * as Environments from "./Environments.ts"
import * as Failure from "./Failure.ts"
import { exitedLine } from "./JsonLines.ts"
import * as LocalRelay from "./LocalRelay.ts"
import * as LogLines from "./LogLines.ts"
import { Output } from "./Output.ts"
import * as ShownTrial from "./ShownTrial.ts"
import * as TrialInputs from "./TrialInputs.ts"
import type { RelayRequest, TrialRequest } from "./TrialRequest.ts"

/** Where and how to run it. */
export interface TrialCommandOptions {
  readonly environment: EnvironmentName
  readonly json: boolean
}

/** Runs the trial that `request` describes. Everything it starts has ended when it returns. */
export const execute = Effect.fn("TrialCommand.execute")(
  function* (request: TrialRequest, options: TrialCommandOptions) {
    const output = yield* Output
    const inputs = yield* TrialInputs.read(request, process.execPath)
    const { condition } = inputs
    const redactor = Redaction.make(inputs.secrets)
    const scrub = (text: string) => Redaction.apply(redactor, text)
    yield* Effect.forEach(condition.warnings, (warning) =>
      output.writeError(`${Failure.warningLine(warning, condition.source, output.style)}\n`)
    )
    const trialLayer = Environments.trialLayer(options.environment, { needsNode: inputs.needsNode })
    const run = (relay: Pick<TrialOptions, "relayUrl" | "userRelayUrl">) =>
      ShownTrial.run(
        { ...inputs.options, ...relay },
        {
          json: options.json,
          directory: inputs.directory,
          scrub,
          leftovers: leftovers(inputs, request.relay)
        }
      ).pipe(Effect.provide(trialLayer))
    // The relay ends after the environment: what is connected to it has ended by then.
    yield* Effect.provide(withRelay(request, run), LogLines.layer(scrub))
  },
  // The last line of NDJSON says how the command exits, also when no trial was started.
  (effect, _request, { json }) =>
    Effect.tapError(effect, (error) =>
      json && Failure.isKnown(error) ? writeExited(Failure.fromError(error)) : Effect.void
    )
)

/** Runs with the relay that was asked for; an embedded one lives as long as the trial. */
const withRelay = <E, R>(
  request: TrialRequest,
  run: (relay: Pick<TrialOptions, "relayUrl" | "userRelayUrl">) => Effect.Effect<void, E, R>
) =>
  request.relay._tag === "Running"
    ? run({
        relayUrl: request.relay.url,
        ...(request.relay.userUrl === undefined ? {} : { userRelayUrl: request.relay.userUrl })
      })
    : EmbeddedRelay.use(({ url }) => run({ relayUrl: url })).pipe(Effect.provide(LocalRelay.layer(0, request.command)))

/** What a command that leaves at once cannot clean up. Sandbox, processes and an embedded relay end with it. */
const leftovers = (inputs: TrialInputs.TrialInputs, relay: RelayRequest): ReadonlyArray<string> => [
  `${inputs.directory}: an unfinished bundle`,
  ...(relay._tag === "Running" ? [`on ${relay.url}: the trial's private channel, not archived`] : [])
]

const writeExited = Effect.fnUntraced(function* (failure: Failure.Failure) {
  const output = yield* Output
  const { exitCode, line, next, reason } = failure
  const at = yield* Clock.currentTimeMillis
  yield* output.write(
    `${exitedLine(at, { exitCode, outcome: undefined, directory: undefined, error: { reason, message: line, next } })}\n`
  )
})
