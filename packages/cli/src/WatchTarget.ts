/**
 * Which channel is watched, and as whom: the user of a trial that is saved on this machine, or a key that is given.
 */
import type { Actor } from "@buzz-orchestra/relay/BuzzClient"
import * as Identity from "@buzz-orchestra/relay/Identity"
import type { ProvisioningError } from "@buzz-orchestra/relay/ProvisioningError"
import type { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { TrialHandleStore } from "@buzz-orchestra/relay/TrialHandleStore"
import { Effect, type FileSystem, type Path } from "effect"
import type { SecureRandom } from "effect/crypto"
import { CommandError, SecretVariableInvalid, SecretVariableMissing, UsageInvalid } from "./CommandError.ts"
import { secretVariable } from "./internal/secretVariable.ts"
import type { RelayOptions } from "./RelayOptions.ts"
import * as SavedTrials from "./SavedTrials.ts"

/** What was asked for. Either a trial, or all three of the others. */
export interface WatchRequest {
  /** The id of a saved trial, or its beginning. */
  readonly trial: string | undefined
  readonly relay: string | undefined
  readonly channel: string | undefined
  /** The variable that holds the key. */
  readonly keyVariable: string | undefined
  readonly options: RelayOptions
}

/** What is watched. */
export interface WatchTarget {
  readonly actor: Actor
  readonly channelId: string
  /** Names that are certain, by public key. */
  readonly names: ReadonlyMap<string, string>
  readonly options: RelayOptions
  /** The trial's directory, when the trial runs on this machine. */
  readonly directory: string | undefined
}

type Needs = FileSystem.FileSystem | Path.Path | SecureRandom.SecureRandom | Schnorr

/** Finds what is asked for, without speaking to the relay. */
export const find = Effect.fn("WatchTarget.find")(function* (
  request: WatchRequest
): Effect.fn.Return<WatchTarget, CommandError | ProvisioningError, Needs> {
  const { channel, keyVariable, relay, trial } = request
  const others = [relay, channel, keyVariable].filter((value) => value !== undefined)
  if (trial !== undefined && others.length > 0) {
    return yield* usage("a trial is given together with --relay, --channel or --key-env", "give the one or the others")
  }
  if (relay !== undefined && channel !== undefined && keyVariable !== undefined) {
    const identity = yield* keyIn(keyVariable)
    const options = request.options
    return { actor: { relayUrl: relay, identity }, channelId: channel, names: new Map(), options, directory: undefined }
  }
  if (others.length > 0) {
    return yield* usage(
      "--relay, --channel and --key-env say what is watched only together",
      "give all three, or the id of a saved trial"
    )
  }
  return yield* savedTrial(trial)
})

const savedTrial = Effect.fnUntraced(function* (trial: string | undefined) {
  const trials = yield* SavedTrials.list
  const matching = trials.filter(({ trialId }) => trialId.startsWith(trial ?? ""))
  const [saved, ...more] = matching.filter(({ trialId }) => trialId === trial || matching.length === 1)
  if (saved === undefined || more.length > 0) {
    const known = trials.map(({ trialId }) => trialId).join(", ")
    return yield* usage(
      trial === undefined
        ? `${trials.length} trials are saved here`
        : `${matching.length} saved trials are called ${trial}`,
      known === "" ? "give --relay URL --channel ID --key-env NAME" : `give one of them: ${known}`
    )
  }
  const { note } = saved
  const handle = yield* TrialHandleStore.use((store) => store.get(saved)).pipe(
    Effect.mapError(SavedTrials.unusable),
    Effect.provide(SavedTrials.layer(note))
  )
  if (handle === undefined) return yield* usage(`the trial ${saved.trialId} has just ended`, "watch another one")
  const target: WatchTarget = {
    actor: { relayUrl: handle.userRelayUrl ?? handle.relayUrl, identity: handle.user.identity },
    channelId: handle.channelId,
    names: namesOf(handle),
    options: note?.relay ?? {},
    directory: note?.directory
  }
  return target
})

const namesOf = ({ credentials, directory = [], user }: TrialHandle): ReadonlyMap<string, string> =>
  new Map([
    ...directory.map(({ entry, identity }) => [identity.pubkey, entry.name] as const),
    ...credentials.map(({ agentId, identity }) => [identity.pubkey, agentId] as const),
    [user.identity.pubkey, user.name] as const
  ])

const keyIn = Effect.fnUntraced(function* (variable: string) {
  const flag = "--key-env"
  const key = yield* secretVariable(variable)
  if (key === undefined) return yield* failed(new SecretVariableMissing({ flag, variable }))
  return yield* Effect.mapError(Identity.parse(key), ({ reason }) => {
    const expected = reason._tag === "KeyInvalid" ? reason.expected : "a key"
    return failed(new SecretVariableInvalid({ flag, variable, expected }))
  })
})

const failed = (reason: CommandError["reason"]) => new CommandError({ command: "watch", reason })

const usage = (detail: string, instead: string) => failed(new UsageInvalid({ detail, instead }))
