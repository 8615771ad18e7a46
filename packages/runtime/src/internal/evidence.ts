/**
 * `buzz-evidence.json`: what verifiers grade of what happened on the relay, and how it gets to them. Its format is shared with
 * them, version 1; `directory`, `observed_channels` and `scripted_events` are for tasks that bring such things.
 */
import { type NostrEvent, tagValues } from "@buzz-orchestra/relay/NostrEvent"
import { Effect } from "effect"
import { type EnvironmentFacts, EnvironmentService } from "../EnvironmentService.ts"
import type { TrialDirectory } from "../TrialDirectory.ts"
import type { Names } from "./channelView.ts"
import { replyTo } from "./transcript.ts"

/** The step of the clean-up, by which a trial that needs it learns whether it was done. */
export const EXPORT_EVIDENCE = "export the evidence"

const FILE = "buzz-evidence.json"
const ERROR_FILE = "buzz-evidence-error.txt"

/** Where verifiers look for it inside the environment. */
export const evidencePath = ({ logsDirectory }: EnvironmentFacts): string => `${logsDirectory}/artifacts/${FILE}`

export interface EvidenceInput {
  readonly taskName: string
  readonly runId: string
  readonly trialId: string
  readonly channelId: string
  readonly taskEventId: string | undefined
  readonly completionMessageId: string | undefined
  /** Of the user and every agent. */
  readonly names: Names
  /** In order of first sight. */
  readonly events: ReadonlyArray<NostrEvent>
  /** Whether the relay was asked for the whole channel at the end and answered. */
  readonly complete: boolean
  /** Takes secrets out of what was said. */
  readonly redact: (text: string) => string
}

/** The document, its keys in alphabetical order. Messages of the same second stay in the order of first sight. */
export const evidence = (input: EvidenceInput) => ({
  completion_message_id: input.completionMessageId ?? null,
  directory: [],
  identities: Object.fromEntries(
    [...input.names]
      .map(([pubkey, { name, role }]) => [name, { pubkey, role }] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  ),
  message_count: input.events.length,
  messages: input.events
    .toSorted((a, b) => a.created_at - b.created_at)
    .map((event) => ({
      author: input.names.get(event.pubkey)?.name ?? "unknown",
      author_role: input.names.get(event.pubkey)?.role ?? "unknown",
      channel_id: tagValues(event, "h")[0] ?? null,
      content: input.redact(event.content),
      created_at: event.created_at,
      id: event.id,
      kind: event.kind,
      mentioned_pubkeys: tagValues(event, "p"),
      pubkey: event.pubkey,
      reply_to_event_id: replyTo(event),
      tags: event.tags.map((tag) => tag.map(input.redact))
    })),
  observed_channels: [],
  schema_version: 1,
  scripted_events: [],
  task_event_id: input.taskEventId ?? null,
  task_name: input.taskName,
  trial: { channel_id: input.channelId, run_id: input.runId, trial_id: input.trialId },
  truncated: !input.complete
})

/** Keeps the document in the trial directory and puts it where verifiers look; why that failed is kept as well. */
export const exportEvidence = Effect.fnUntraced(
  function* (directory: TrialDirectory, input: EvidenceInput) {
    const { facts, upload } = yield* EnvironmentService
    const document = evidence(input)
    yield* directory.writeJson(FILE, document)
    const content = new TextEncoder().encode(`${JSON.stringify(document, undefined, 2)}\n`)
    yield* upload({ content }, evidencePath(facts), { mode: 0o644 })
  },
  (effect, directory) =>
    Effect.tapError(effect, ({ message }) => Effect.ignore(directory.write(ERROR_FILE, `${message}\n`)))
)
