/**
 * `Trial` over `TrialRuntime`, the manifest and the relay: prepares, provisions, runs, tears down, and writes `summary.json`
 * last, whatever happened.
 */
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import { ProvisioningError } from "@buzz-orchestra/relay/ProvisioningError"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { type ProvisionRequest, TrialProvisioner } from "@buzz-orchestra/relay/TrialProvisioner"
import * as TrialRoster from "@buzz-orchestra/relay/TrialRoster"
import { Cause, Context, Effect, Exit, FileSystem, Layer, Option, Path, type PlatformError, Ref, Scope } from "effect"
import { CONFIG, ENDPOINTS, MANIFEST } from "./BundleFiles.ts"
import { EnvironmentService } from "./EnvironmentService.ts"
import { exitWithin, sentence } from "./internal/bounded.ts"
import * as EnvironmentUse from "./internal/environmentUse.ts"
import { configOf, keepBundle } from "./internal/keepBundle.ts"
import { keepTrajectory, TRAJECTORY_DEADLINE, WRITE_TRAJECTORY } from "./internal/keepTrajectory.ts"
import { noteInterruption } from "./internal/noteInterruption.ts"
import { noteRetries } from "./internal/noteRetries.ts"
import * as TrialSpan from "./internal/trialSpan.ts"
import { ownServices } from "./internal/ownServices.ts"
import { scrubbed } from "./internal/scrubbed.ts"
import { trialRedactor } from "./internal/trialRedactor.ts"
import type { SummarizedError } from "./internal/summarize.ts"
import * as Redaction from "./Redaction.ts"
import { EnvironmentBusy, inPhase, RuntimeLaunchError, TrialDirectoryUnwritable } from "./RuntimeLaunchError.ts"
import { TraceRedaction } from "./TraceRedaction.ts"
import { Trial, type TrialResult } from "./Trial.ts"
import * as TrialDirectory from "./TrialDirectory.ts"
import { TrialEvents } from "./TrialEvents.ts"
import type { TrialOptions } from "./TrialOptions.ts"
import { prepare } from "./TrialPreparation.ts"
import * as TrialRecord from "./TrialRecord.ts"
import { TrialRuntime } from "./TrialRuntime.ts"

/** A relay that does not answer must not hold up the end. */
const TEARDOWN_DEADLINE = "30 seconds"
/** Three small files. */
const DIRECTORY_DEADLINE = "15 seconds"

type Needs =
  | EnvironmentService
  | FileSystem.FileSystem
  | ManifestService
  | Path.Path
  | TrialEvents
  | TrialProvisioner
  | TrialRuntime

/** Whole trials over the services that the layer is given. */
export const layer: Layer.Layer<Trial, never, Needs> = Layer.effect(
  Trial,
  Effect.gen(function* () {
    const context = yield* ownServices<Needs>()
    const run = Effect.fn("Trial.run")((options: TrialOptions, scope: Scope.Scope) =>
      Effect.provide(runTrial(options), Context.add(context, Scope.Scope, scope))
    )
    // What spans must not say is taken out of them until the trial's own has ended.
    return Trial.of({ run: (options) => Effect.scopedWith((scope) => run(options, scope)) })
  })
)

const runTrial = (options: TrialOptions) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const environment = yield* EnvironmentService
      const { runId, trialId } = options
      const user = { runId, trialId, directory: (yield* Path.Path).resolve(options.directory) }
      return yield* EnvironmentUse.using(environment, user, (other) => runAlone({ options, user, other, restore }))
    })
  )

interface Attempt {
  readonly options: TrialOptions
  readonly user: EnvironmentUse.EnvironmentUser
  /** Another trial in the same environment, for which this one is refused. */
  readonly other: EnvironmentUse.EnvironmentUser | undefined
  readonly restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const runAlone = Effect.fnUntraced(function* (attempt: Attempt) {
  const { options } = attempt
  const record = yield* TrialRecord.make(options)
  const opened = yield* Ref.make(Option.none<TrialDirectory.TrialDirectory>())
  yield* record.publish(started(options))
  yield* Effect.annotateCurrentSpan(TrialSpan.began(options))
  const exit = yield* Effect.exit(noteRetries(record, phases(attempt, record, opened)))
  yield* noteInterruption(record, exit)
  const summary = yield* finish(options, record, yield* Ref.get(opened), errorOf(exit))
  yield* Effect.annotateCurrentSpan(TrialSpan.ended(summary))
  const { outcome } = yield* record.facts
  yield* record.publish({
    _tag: "TrialEnded",
    outcome: outcome?.outcome,
    error: summary.error?.message
  })
  const { completion, directory, end } = yield* exit
  const result: TrialResult = { outcome: end, completion, summary, directory }
  return result
})

const phases = Effect.fnUntraced(function* (
  { options, other, restore, user }: Attempt,
  record: TrialRecord.TrialRecord,
  opened: Ref.Ref<Option.Option<TrialDirectory.TrialDirectory>>
) {
  const provisioner = yield* TrialProvisioner
  const runtime = yield* TrialRuntime
  const redactions = yield* TraceRedaction
  const preparing = Effect.gen(function* () {
    // The other trial's documents are not written over.
    if (other?.directory === user.directory) return yield* busy(other)
    // Not interruptible: whoever stops a trial as it begins is to find that in its directory.
    const directory = yield* onDisk(options, TrialDirectory.open(options.directory))
    yield* Ref.set(opened, Option.some(directory))
    const scrub = scrubbing(undefined, options)
    yield* redactions.hold(scrub)
    yield* record.redactWith(scrub)
    yield* onDisk(options, Effect.andThen(directory.clear, directory.makeFolders))
    yield* record.keepIn(directory)
    const { facts } = yield* EnvironmentService
    yield* onDisk(options, directory.writeJson(CONFIG, scrubbed(configOf(options, facts, directory), scrub)))
    yield* onDisk(options, writeInputs(directory, options))
    if (other !== undefined) return yield* busy(other)
    return { directory, trial: yield* restore(prepare(options)) }
  })
  const { directory, trial } = yield* record.phase("prepare", preparing)
  // The creating lets itself be interrupted; whatever it returns is there to tear down, and must not be lost on the way.
  const handle = yield* record.phase("provision", provisioner.create(requestOf(options)))
  const scrub = scrubbing(handle, options)
  yield* redactions.hold(scrub)
  yield* record.redactWith(scrub)
  yield* record.learn({ handle })
  yield* record.publish(provisioned(handle))
  const exit = yield* Effect.exit(restore(runtime.run({ trial, handle, directory, record })))
  yield* teardown(handle, record)
  const { completion, outcome } = yield* exit
  return { completion, directory: directory.path, end: outcome }
})

const busy = Effect.fnUntraced(function* ({ runId, trialId }: EnvironmentUse.EnvironmentUser) {
  const { facts } = yield* EnvironmentService
  return yield* inPhase("prepare")(new EnvironmentBusy({ environment: facts.name, runId, trialId }))
})

/** A call to the disk that holds the trial directory. A disk that hangs is one that cannot be written. */
const onDisk = Effect.fnUntraced(function* <A, R>(
  { directory }: TrialOptions,
  call: Effect.Effect<A, PlatformError.PlatformError, R>
) {
  const exit = yield* exitWithin(DIRECTORY_DEADLINE, call)
  const unwritable = ({ message }: { readonly message: string }) =>
    inPhase("prepare")(new TrialDirectoryUnwritable({ path: directory, detail: message }))
  if (Option.isNone(exit)) return yield* unwritable({ message: `the disk did not answer within ${DIRECTORY_DEADLINE}` })
  return yield* Effect.mapError(exit.value, unwritable)
})

/** Written before anything is checked, so that a trial that cannot be prepared leaves behind what it was to run. */
const writeInputs = Effect.fnUntraced(function* (
  directory: TrialDirectory.TrialDirectory,
  { condition, endpoints }: TrialOptions
) {
  const { canonical, dialect, sha256 } = condition
  yield* directory.write(
    MANIFEST,
    // The canonical text itself: it is what was hashed, and holds integers that a number would round.
    `{"sha256":${JSON.stringify(sha256)},"dialect":${JSON.stringify(dialect)},"manifest":${canonical}}\n`
  )
  yield* directory.writeJson(ENDPOINTS, redactedEndpoints(endpoints))
})

/** Names only: a value may be a secret. */
const redactedEndpoints = (endpoints: TrialOptions["endpoints"]) =>
  Object.fromEntries(
    Object.entries(endpoints).map(([name, { api_key_env, env, provider }]) => [
      name,
      { provider, api_key_env, env_keys: Object.keys(env ?? {}).toSorted() }
    ])
  )

const requestOf = (options: TrialOptions): ProvisionRequest => ({
  runId: options.runId,
  trialId: options.trialId,
  manifest: options.condition.manifest,
  manifestHash: options.condition.sha256,
  relayUrl: options.relayUrl,
  apiKeys: options.apiKeys,
  ...(options.userRelayUrl === undefined ? {} : { userRelayUrl: options.userRelayUrl }),
  ...(options.ownerKey === undefined ? {} : { ownerKey: options.ownerKey }),
  ...(options.user === undefined ? {} : { user: options.user }),
  ...fixtureOf(options),
  ...(options.channelLabel === undefined ? {} : { channelLabel: options.channelLabel })
})

/** The directory, and the user whom the task knows. */
const fixtureOf = ({ channelLabel, evidenceFor, fixture }: TrialOptions): Partial<ProvisionRequest> => {
  const taskName = evidenceFor ?? channelLabel ?? ""
  return {
    ...(fixture?.userName === undefined ? {} : { taskUser: { taskName, name: fixture.userName } }),
    ...(fixture?.directory === undefined ? {} : { directory: fixture.directory })
  }
}

const teardown = Effect.fnUntraced(function* (handle: TrialHandle, record: TrialRecord.TrialRecord) {
  const provisioner = yield* TrialProvisioner
  const steps = yield* record.step("tear down", TEARDOWN_DEADLINE, provisioner.teardown(handle))
  for (const { error, step } of Option.getOrElse(steps, () => []))
    if (error !== undefined) yield* record.noteStep({ step: `tear down: ${step}`, seconds: 0, error })
})

/** Writes the last documents of the trial directory and returns the summary, written or not. */
const finish = Effect.fnUntraced(function* (
  options: TrialOptions,
  record: TrialRecord.TrialRecord,
  directory: Option.Option<TrialDirectory.TrialDirectory>,
  error: SummarizedError | undefined
) {
  if (Option.isSome(directory)) {
    const { cleanup, handle } = yield* record.facts
    // A trial that came as far as its clean-up has one already.
    if (!cleanup.some(({ step }) => step === WRITE_TRAJECTORY)) {
      const redact = scrubbing(handle, options)
      const trajectory = keepTrajectory({ options, record, directory: directory.value, events: [], redact })
      yield* record.step(WRITE_TRAJECTORY, TRAJECTORY_DEADLINE, trajectory)
    }
  }
  return yield* keepBundle({ options, record, directory: Option.getOrUndefined(directory), error })
})

/** Takes out what is known to be secret so far. */
const scrubbing = (handle: TrialHandle | undefined, options: TrialOptions) => {
  const redactor = trialRedactor(handle, options)
  return (text: string) => Redaction.apply(redactor, text)
}

const provisioned = ({ channelId, credentials, user }: TrialHandle) => ({
  _tag: "Provisioned" as const,
  channelId,
  user: { name: user.name, pubkey: user.identity.pubkey },
  agents: credentials.map(({ agentId, endpoint, identity, kind, role }) => ({
    agentId,
    kind,
    role,
    endpoint,
    pubkey: identity.pubkey
  }))
})

const started = ({ condition, directory }: TrialOptions) => ({
  _tag: "TrialStarted" as const,
  condition: condition.manifest.condition,
  manifestHash: condition.sha256,
  agentIds: TrialRoster.seats(condition.manifest.roster).map(({ agentId }) => agentId),
  timeoutSeconds: condition.manifest.trial_budget.timeout_seconds,
  directory
})

const errorOf = (exit: Exit.Exit<unknown, RuntimeLaunchError | ProvisioningError>): SummarizedError | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (error === undefined)
    return Cause.hasInterruptsOnly(exit.cause)
      ? undefined
      : { phase: "unknown", reason: "Defect", message: sentence(exit.cause) }
  const { message, reason } = error
  return { phase: error._tag === "RuntimeLaunchError" ? error.phase : "provision", reason: reason._tag, message }
}
