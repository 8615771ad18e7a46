/**
 * `buzz-evidence.json`: what verifiers grade of what happened on the relay, and how it gets to them. Its format is shared with
 * them, version 1. It is the last thing that goes into the environment, after the stack has ended, and its digest stays here.
 */
import type { ChannelMember } from "@buzz-orchestra/relay/BuzzClient"
import { type DirectoryIdentity, identityIdOf } from "@buzz-orchestra/relay/DirectoryIdentity"
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import type { FoundChannel } from "@buzz-orchestra/relay/FoundChannel"
import { type NostrEvent, tagValues } from "@buzz-orchestra/relay/NostrEvent"
import { Effect } from "effect"
import { folderOf } from "../ArtifactManifest.ts"
import { bundleName, EVIDENCE, EVIDENCE_ERROR } from "../BundleFiles.ts"
import { type EnvironmentFacts, EnvironmentService } from "../EnvironmentService.ts"
import type { ScriptedEvent } from "../TaskFixture.ts"
import type { TrialDirectory } from "../TrialDirectory.ts"
import type { TrialRecord } from "../TrialRecord.ts"
import type { Names } from "./channelView.ts"
import { sha256Text } from "./sha256.ts"
import { sortedJson } from "./sortedJson.ts"
import { isTruncated, replyTo } from "./transcript.ts"

/** The step of the clean-up, by which a trial that needs it learns whether it was done. */
export const EXPORT_EVIDENCE = "export the evidence"

/** Where verifiers look for it inside the environment. */
export const evidencePath = (facts: EnvironmentFacts): string => `${folderOf(facts)}/${bundleName(EVIDENCE)}`

/** A channel that a task's verifier wants to see. */
export interface ObservedChannel {
  readonly channel: FoundChannel
  readonly members: ReadonlyArray<ChannelMember>
}

export interface EvidenceInput {
  readonly taskName: string
  readonly runId: string
  readonly trialId: string
  readonly channelId: string
  readonly taskEventId: string | undefined
  readonly completionMessageId: string | undefined
  /** Of the user and every agent. */
  readonly names: Names
  readonly directory: ReadonlyArray<DirectoryIdentity>
  readonly scripted: ReadonlyArray<ScriptedEvent>
  readonly observedChannels: ReadonlyArray<ObservedChannel>
  /** In order of first sight. */
  readonly events: ReadonlyArray<NostrEvent>
  /** Whether the relay was read to the channel's root at the end. */
  readonly complete: boolean
  /** Takes secrets out of what was said. */
  readonly redact: (text: string) => string
}

/** The kinds that `buzz messages get` lists. An edit or a deletion is no message: it would count as a second answer. */
const KINDS: ReadonlySet<number> = new Set([
  EventKind.Message,
  EventKind.MessageV2,
  EventKind.Diff,
  EventKind.ForumPost,
  EventKind.ForumComment
])

/** The document. Messages of the same second stay in the order of first sight. */
export const evidence = (input: EvidenceInput) => {
  const events = input.events.filter(({ kind }) => KINDS.has(kind)).toSorted((a, b) => a.created_at - b.created_at)
  return {
    schema_version: 1,
    trial: { run_id: input.runId, trial_id: input.trialId, channel_id: input.channelId },
    task_event_id: input.taskEventId ?? null,
    completion_message_id: input.completionMessageId ?? null,
    identities: Object.fromEntries([...input.names].map(([pubkey, { name, role }]) => [name, { role, pubkey }])),
    directory: input.directory.map(({ entry, identity }) => ({
      identity_id: identityIdOf(entry),
      name: entry.name,
      role: entry.role,
      pubkey: identity.pubkey,
      about: entry.about ?? ""
    })),
    scripted_events: input.scripted.map(({ actor, eventId, label, replyToEventId }) => ({
      label,
      event_id: eventId,
      actor,
      reply_to_event_id: replyToEventId ?? null
    })),
    task_name: input.taskName,
    observed_channels: input.observedChannels.map(observed),
    message_count: events.length,
    truncated: isTruncated(input),
    messages: events.map((event) => messageOf(event, input))
  }
}

/** The channel as `buzz channels search` prints it, with what `buzz channels members` prints of it. */
const observed = ({ channel, members }: ObservedChannel) => ({
  channel_id: channel.channelId,
  name: channel.name,
  channel_type: channel.type,
  visibility: channel.visibility,
  archived: channel.isArchived,
  about: channel.about,
  topic: channel.topic,
  purpose: channel.purpose,
  ttl_seconds: channel.ttlSeconds,
  members
})

const messageOf = (event: NostrEvent, { names, redact }: EvidenceInput) => ({
  id: event.id,
  kind: event.kind,
  created_at: event.created_at,
  pubkey: event.pubkey,
  author: names.get(event.pubkey)?.name ?? "unknown",
  author_role: names.get(event.pubkey)?.role ?? "unknown",
  content: redact(event.content),
  tags: event.tags.map((tag) => tag.map(redact)),
  channel_id: tagValues(event, "h")[0] ?? null,
  reply_to_event_id: replyTo(event),
  mentioned_pubkeys: tagValues(event, "p")
})

/** Keeps the document in the trial directory and puts it where verifiers look. */
export const exportEvidence = Effect.fnUntraced(function* (
  directory: TrialDirectory,
  record: TrialRecord,
  input: EvidenceInput
) {
  const { facts, upload } = yield* EnvironmentService
  const text = sortedJson(evidence(input))
  const content = new TextEncoder().encode(text)
  const path = evidencePath(facts)
  yield* directory.write(EVIDENCE, text)
  yield* upload({ content }, path, { mode: 0o644 })
  yield* record.learn({ evidence: { path, sha256: sha256Text(text), bytes: content.length } })
})

/** Why there is no evidence, for whoever looks for it. */
export const keepReason = (directory: TrialDirectory, reason: string) => directory.write(EVIDENCE_ERROR, `${reason}\n`)
