/**
 * What errors of the manifest and relay packages mean for a trial: the reason of this package that stands for each. The
 * caller keeps the error itself as the cause.
 */
import type { ManifestReason } from "@buzz-orchestra/manifest/ManifestError"
import type { RelayReason, RelayUrlInvalid } from "@buzz-orchestra/relay/RelayError"
import {
  CredentialsIncomplete,
  CredentialWithoutClass,
  ObservationRefused,
  PromptDigestMismatch,
  PromptUnreadable,
  RelayUrlUnusable,
  RoleMismatch,
  TaskMentionMissing,
  TaskNotAccepted,
  TaskTooLong
} from "../RuntimeLaunchError.ts"

/** Credentials that do not fit the roster; `undefined` for a reason that does not concern credentials. */
export const ofCredentials = (
  reason: ManifestReason,
  classIds: ReadonlyArray<string>
): CredentialWithoutClass | RoleMismatch | CredentialsIncomplete | undefined => {
  const none = { missing: [], unexpected: [], repeated: [] }
  switch (reason._tag) {
    case "AgentIdMalformed":
    case "AgentClassUnknown":
      return new CredentialWithoutClass({ agentId: reason.agentId, known: classIds })
    case "AgentKindMismatch":
      return new RoleMismatch({ agentId: reason.agentId, expected: reason.expected, actual: reason.actual })
    case "AgentRepeated":
      return new CredentialsIncomplete({ ...none, repeated: [reason.agentId] })
    case "AgentsMissing":
      return new CredentialsIncomplete({ ...none, missing: reason.agentIds })
    case "AgentsUnexpected":
      return new CredentialsIncomplete({ ...none, unexpected: reason.agentIds })
    default:
      return undefined
  }
}

/** A prompt that cannot be used. `agent` is the class or agent whose prompt it is. */
export const ofPrompt = (
  reason: ManifestReason,
  agent: string,
  path: string
): PromptUnreadable | PromptDigestMismatch =>
  reason._tag === "ArtifactMismatch"
    ? new PromptDigestMismatch({ agent, path: reason.file, expected: reason.expected, actual: reason.actual })
    : reason._tag === "ArtifactUnreadable"
      ? new PromptUnreadable({ agent, path: reason.file, detail: describe(reason.cause) })
      : new PromptUnreadable({ agent, path, detail: reason.message })

/** A task that did not get into the channel, or not to the orchestrator. */
export const ofPost = (
  reason: RelayReason,
  to: { readonly relay: string; readonly agentId: string; readonly pubkey: string }
): TaskTooLong | TaskMentionMissing | RelayUrlUnusable | TaskNotAccepted => {
  switch (reason._tag) {
    case "MessageTooLong":
      return new TaskTooLong({ size: reason.size, limit: reason.limit })
    case "MentionNotStored":
      return new TaskMentionMissing({ eventId: reason.eventId, agentId: to.agentId, pubkey: to.pubkey })
    case "RelayUrlInvalid":
      return ofRelayUrl(reason, "user")
    default:
      return new TaskNotAccepted({ relay: to.relay, detail: reason.message })
  }
}

/** An observation that the relay ended for good. */
export const ofObservation = (
  reason: RelayReason,
  of: { readonly relay: string; readonly channelId: string }
): ObservationRefused | RelayUrlUnusable =>
  reason._tag === "RelayUrlInvalid"
    ? ofRelayUrl(reason, "user")
    : new ObservationRefused({ relay: of.relay, channelId: of.channelId, detail: reason.message })

/** A relay URL that does not serve its purpose. */
export const ofRelayUrl = (reason: RelayUrlInvalid, neededFor: RelayUrlUnusable["neededFor"]): RelayUrlUnusable =>
  new RelayUrlUnusable({ url: reason.url, expected: reason.expected, neededFor })

const describe = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
