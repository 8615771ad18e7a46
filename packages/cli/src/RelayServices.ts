/**
 * How a command reaches a relay: the transport, the client that was asked for, and where trials are remembered.
 */
import type { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as BuzzClientCli from "@buzz-orchestra/relay/BuzzClientCli"
import * as BuzzClientNative from "@buzz-orchestra/relay/BuzzClientNative"
import type { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import { TrialHandleStore } from "@buzz-orchestra/relay/TrialHandleStore"
import * as ProcessOwner from "@buzz-orchestra/runtime/ProcessOwner"
import { Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { HttpClient } from "effect/http"
import type { ChildProcessSpawner } from "effect/process"
import type { RelayOptions } from "./RelayOptions.ts"
import * as SavedTrials from "./SavedTrials.ts"

/** The client that the options ask for. */
export const client = ({
  program
}: RelayOptions): Layer.Layer<
  BuzzClient,
  never,
  ChildProcessSpawner.ChildProcessSpawner | HttpClient.HttpClient | Schnorr | SecureRandom.SecureRandom
> => (program === undefined ? BuzzClientNative.layer : BuzzClientCli.layerWith({ program }))

/** The memory of one trial: this process's own, or on disk with the note that whoever comes later needs. */
export const handles = (
  relay: RelayOptions | undefined,
  trial: {
    readonly runId: string
    readonly trialId: string
    readonly keepsChannel: boolean
    readonly directory: string
  }
) => {
  if (relay === undefined) return TrialHandleStore.layerMemory
  const { directory, keepsChannel } = trial
  return Layer.unwrap(
    Effect.map(ProcessOwner.current(trial), (owner) => SavedTrials.layer({ owner, relay, keepsChannel, directory }))
  )
}
