/**
 * Everything that can be found wrong with a trial before anything is provisioned or launched. What passes here is a
 * `PreparedTrial`; nothing later checks it again.
 */
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import { MAX_MESSAGE_BYTES } from "@buzz-orchestra/relay/BuzzClient"
import { identityIdOf } from "@buzz-orchestra/relay/DirectoryIdentity"
import { agentRelayUrl, authority, userRelayUrl } from "@buzz-orchestra/relay/RelayUrl"
import * as TrialRoster from "@buzz-orchestra/relay/TrialRoster"
import { Duration, Effect, FileSystem, Result } from "effect"
import { ofPrompt, ofRelayUrl } from "./internal/foreignReason.ts"
import { endpointOf } from "./LaunchEnvironment.ts"
import {
  ConfigurationOutOfBounds,
  inPhase,
  type PrepareReason,
  type RuntimeLaunchError,
  TaskFileMissing,
  TaskTooLong
} from "./RuntimeLaunchError.ts"
import { TRIAL_USER } from "./TaskFixture.ts"
import {
  DEFAULT_MAX_AGENT_ROUNDS,
  DEFAULT_READINESS_TIMEOUT,
  DEFAULT_SETTLE_TIMEOUT,
  type TrialOptions
} from "./TrialOptions.ts"

/** A trial that may be provisioned. */
export interface PreparedTrial {
  readonly options: TrialOptions
  /** The agents in the order in which everything lists them: the orchestrator first. */
  readonly seats: ReadonlyArray<TrialRoster.Seat>
  readonly orchestratorId: string
  /** Text of the pinned prompt by class id, as its digest was checked. */
  readonly personas: ReadonlyMap<string, string>
  /** The message that starts the team. */
  readonly task: string
  readonly readinessTimeout: Duration.Duration
  readonly settleTimeout: Duration.Duration
  readonly maxAgentRounds: number
}

/** Checks the options, the files they name and what the condition pins. */
export const prepare = Effect.fn("TrialPreparation.prepare")(
  function* (options: TrialOptions) {
    const { manifest } = options.condition
    const settings = yield* Effect.fromResult(settingsOf(options))
    yield* Effect.fromResult(checkRelay(options))
    yield* Effect.fromResult(checkScript(options))
    const seats = TrialRoster.seats(manifest.roster)
    for (const seat of seats) yield* Effect.fromResult(endpointOf(seat, options.endpoints))
    const orchestratorId = seats[0]?.agentId ?? ""
    const task = `@${orchestratorId} ${options.instruction}`
    const size = new TextEncoder().encode(task).length
    if (size > MAX_MESSAGE_BYTES) return yield* new TaskTooLong({ size, limit: MAX_MESSAGE_BYTES })
    yield* Effect.forEach(options.uploads ?? [], ({ source }) => requireFile(source), { discard: true })
    const personas = yield* readPersonas(options)
    const prepared: PreparedTrial = { options, seats, orchestratorId, personas, task, ...settings }
    return prepared
  },
  (effect): Effect.Effect<PreparedTrial, RuntimeLaunchError<PrepareReason>, ManifestService | FileSystem.FileSystem> =>
    Effect.mapError(effect, (reason) => inPhase("prepare")(reason))
)

const settingsOf = (options: TrialOptions) =>
  Result.gen(function* () {
    const maxAgentRounds = options.maxAgentRounds ?? DEFAULT_MAX_AGENT_ROUNDS
    if (!Number.isInteger(maxAgentRounds) || maxAgentRounds < 0)
      return yield* outOfBounds("maxAgentRounds", maxAgentRounds, "0 (unbounded) or a positive whole number")
    const readinessTimeout = yield* duration("readinessTimeout", options.readinessTimeout ?? DEFAULT_READINESS_TIMEOUT)
    if (!Duration.isGreaterThan(readinessTimeout, Duration.zero))
      return yield* outOfBounds("readinessTimeout", Duration.format(readinessTimeout), "a positive duration")
    const settleTimeout = yield* duration("settleTimeout", options.settleTimeout ?? DEFAULT_SETTLE_TIMEOUT)
    return { maxAgentRounds, readinessTimeout, settleTimeout }
  })

const duration = (setting: string, input: Duration.Input) => {
  const value = Duration.fromInputUnsafe(input)
  return Duration.isFinite(value) && !Duration.isNegative(value)
    ? Result.succeed(value)
    : outOfBounds(setting, Duration.format(value), "finite and not negative")
}

const outOfBounds = (setting: string, value: string | number, expected: string) =>
  Result.fail(new ConfigurationOutOfBounds({ setting, value: `${value}`, expected }))

const checkRelay = ({ relayGateway, relayUrl, userRelayUrl: user }: TrialOptions) =>
  Result.gen(function* () {
    yield* Result.mapError(agentRelayUrl(relayUrl), (it) => ofRelayUrl(it, "agents"))
    yield* Result.mapError(userRelayUrl({ relayUrl, userRelayUrl: user }), (it) => ofRelayUrl(it, "user"))
    if (relayGateway === undefined) return
    yield* Result.mapError(authority(relayUrl), (it) => ofRelayUrl(it, "forwarder"))
    if (!/^[^\s:/]+:\d{1,5}$|^\[[^\s\]]+\]:\d{1,5}$/.test(relayGateway))
      return yield* outOfBounds("relayGateway", relayGateway, "`host:port`, as the relay is seen from the environment")
  })

const checkScript = ({ fixture }: TrialOptions) =>
  Result.gen(function* () {
    const ids = [TRIAL_USER, ...(fixture?.directory ?? []).map(identityIdOf)]
    for (const { actor, label } of fixture?.scripted ?? [])
      if (!ids.includes(actor))
        return yield* outOfBounds(`the actor of the scripted message ${label}`, actor, `one of ${ids.join(", ")}`)
  })

const requireFile = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.mapError(fs.stat(path), ({ message }) => new TaskFileMissing({ path, detail: message }))
})

const readPersonas = Effect.fnUntraced(function* ({ artifactRoot, condition }: TrialOptions) {
  const manifests = yield* ManifestService
  const entries = yield* Effect.forEach(condition.manifest.roster, ({ id, prompt }) =>
    manifests.readArtifact(artifactRoot, prompt).pipe(
      Effect.mapError(({ reason }) => ofPrompt(reason, id, prompt.path)),
      Effect.map((bytes) => [id, new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)] as const)
    )
  )
  return new Map(entries)
})
