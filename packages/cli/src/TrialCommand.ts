/**
 * One trial as a command: prepare, make the environment, bring the relay there, run and show. `run` and `demo` differ in what
 * they ask for.
 */
import type { Condition } from "@buzz-orchestra/manifest/Condition"
import { ArchiveOnTeardown } from "@buzz-orchestra/relay/TrialProvisioner"
import type { ContainerLimits } from "@buzz-orchestra/runtime/docker/ContainerSpec"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import { type EnvironmentFacts, EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import type { StackFiles } from "@buzz-orchestra/runtime/StackFiles"
import { DEFAULT_READINESS_TIMEOUT } from "@buzz-orchestra/runtime/TrialOptions"
import { Duration, Effect, Layer } from "effect"
import * as Downloads from "./Downloads.ts"
import * as Environments from "./Environments.ts"
import type { EnvironmentRequest } from "./EnvironmentRequest.ts"
import { announceError } from "./ExitedLine.ts"
import * as Failure from "./Failure.ts"
import * as LogLines from "./LogLines.ts"
import { Output } from "./Output.ts"
import { relocate, relocateAll } from "./PlainPaths.ts"
import * as RelayPreflight from "./RelayPreflight.ts"
import * as RelaySetup from "./RelaySetup.ts"
import * as ShownTrial from "./ShownTrial.ts"
import * as TrialInputs from "./TrialInputs.ts"
import type { TrialRequest } from "./TrialRequest.ts"

/** Where and how to run it. */
export interface TrialCommandOptions {
  readonly environment: EnvironmentRequest
  readonly json: boolean
}

/** Runs the trial that `request` describes. Everything it starts has ended when it returns. */
export const execute = Effect.fn("TrialCommand.execute")(
  function* (request: TrialRequest, { environment, json }: TrialCommandOptions) {
    const output = yield* Output
    const inputs = yield* TrialInputs.read(request, process.execPath)
    const { condition, directory } = inputs
    const redactor = Redaction.make(inputs.secrets)
    const scrub = (text: string) => Redaction.apply(redactor, text)
    const warnings = condition.warnings.map((it) => Failure.warningLine(it, condition.source, output.style))
    const unmet = [...unprotected(environment), ...unlimited(condition, environment)]
    for (const line of [...warnings, ...unmet.map((it) => `warning: ${it}`)]) yield* output.writeError(`${line}\n`)
    const stack = withNode(environment, inputs)
    const relay = { ...relayOf(request), directory: inputs.options.directory }
    const trialLayer = Environments.trialLayer(
      environment,
      {
        command: request.command,
        runId: inputs.options.runId,
        trialId: inputs.options.trialId,
        stack,
        needsNode: inputs.needsNode,
        limits: limitsOf(condition),
        timeLimit: timeLimitOf(inputs),
        onProgress: (line) => output.writeError(`${scrub(line)}\n`)
      },
      relay
    )
    const trial = Effect.gen(function* () {
      yield* RelayPreflight.check(relay.url, (line) => output.writeError(`${scrub(line)}\n`))
      const access = yield* RelaySetup.open(request, stack)
      const inside = yield* EnvironmentService
      const { facts } = inside
      const places = environment._tag === "Plain" ? relocateAll(facts, inputs.options) : {}
      const show = {
        json,
        directory,
        scrub,
        leftovers: leftovers(inputs, request, environment),
        collect: Downloads.collect(inside, downloadsOf(request, environment, facts))
      }
      const running = ShownTrial.run({ ...inputs.options, ...places, stack, ...access }, show)
      yield* Effect.provideService(running, ArchiveOnTeardown, !relay.keepsChannel)
    })
    yield* trial.pipe(Effect.scoped, Effect.provide(Layer.provideMerge(trialLayer, LogLines.layer(scrub))))
  },
  (effect, _request, { json }) => announceError(json)(effect)
)

/** Where they are in this environment. */
const downloadsOf = (
  { downloads = [] }: TrialRequest,
  { _tag }: EnvironmentRequest,
  facts: EnvironmentFacts
): ReadonlyArray<Downloads.PlacedDownload> =>
  downloads.map((download) => ({
    ...download,
    path: _tag === "Plain" ? relocate(facts, download.source) : download.source
  }))

const relayOf = ({ keepsChannel = false, relay, relayOptions = {} }: TrialRequest) => ({
  url: relay._tag === "Running" ? (relay.userUrl ?? relay.url) : undefined,
  options: relayOptions,
  keepsChannel
})

/**
 * In a container of an image this process's Node is one of the programs: it is verified and put there like the others. One for
 * another system would not run there; then the image must have its own on the PATH.
 */
const withNode = (environment: EnvironmentRequest, { needsNode, options }: TrialInputs.TrialInputs): StackFiles =>
  needsNode && hasImage(environment) && process.platform === "linux"
    ? { ...options.stack, programs: { ...options.stack.programs, node: process.execPath } }
    : options.stack

const hasImage = (environment: EnvironmentRequest): boolean =>
  environment._tag === "Container" && environment.source._tag !== "ThisMachine"

const limitsOf = ({ manifest }: Condition): ContainerLimits => {
  const { override_cpus: cpus, override_memory_mb: memoryMb, override_storage_mb: storageMb } = manifest.environment
  return {
    ...(cpus === null ? {} : { cpus }),
    ...(memoryMb === null ? {} : { memoryMb }),
    ...(storageMb === null ? {} : { storageMb })
  }
}

/** Said before anything is started: by then it may be too late to read it. */
const unprotected = ({ _tag }: EnvironmentRequest): ReadonlyArray<string> =>
  _tag === "Plain"
    ? [
        "--environment plain protects nothing: agents may do to this machine whatever you may; summary.json lists the rest"
      ]
    : []

/** What the manifest asks for and the environment cannot be given. */
const unlimited = (condition: Condition, environment: EnvironmentRequest): ReadonlyArray<string> => {
  if (Object.keys(limitsOf(condition)).length === 0) return []
  const ignored = `the limits of the manifest's environment block are not applied: `
  if (environment._tag === "Local") return [`${ignored}a local sandbox has none`]
  if (environment._tag === "Plain") return [`${ignored}without a sandbox there are none`]
  return environment.source._tag === "Container" ? [`${ignored}the container exists and has its own`] : []
}

/** Installing, launching, settling and collecting take minutes at most, whatever the machine. */
const MARGIN = Duration.minutes(15)

/** A container that nobody ends, ends by itself then. */
const timeLimitOf = ({ condition, options }: TrialInputs.TrialInputs): Duration.Duration => {
  const ready = Duration.fromInputUnsafe(options.readinessTimeout ?? DEFAULT_READINESS_TIMEOUT)
  const budget = Duration.seconds(condition.manifest.trial_budget.timeout_seconds)
  return Duration.sum(Duration.sum(budget, ready), MARGIN)
}

/** What a command that leaves at once cannot clean up. Sandbox, processes and an embedded relay end with it. */
const leftovers = (
  { directory }: TrialInputs.TrialInputs,
  { relay }: TrialRequest,
  environment: EnvironmentRequest
): ReadonlyArray<string> => [
  `${directory}: an unfinished bundle`,
  ...(relay._tag === "Running"
    ? [`on ${relay.url}: the trial's private channel, which \`buzz-orchestra reap\` archives`]
    : []),
  ...(environment._tag === "Container" && environment.source._tag !== "Container"
    ? ["in the container engine: the trial's container, stopped; the next trial in a container, or reap, removes it"]
    : []),
  ...(environment._tag === "Plain"
    ? ["on this machine: whatever the agents started; the next trial of this kind, or reap, ends it"]
    : [])
]
