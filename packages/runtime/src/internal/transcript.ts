/**
 * `transcript.json`: who said what in the trial's channel. Pure.
 */
import { type NostrEvent, tagValues } from "@buzz-orchestra/relay/NostrEvent"
import { type Names, stranger } from "./channelView.ts"

export interface TranscriptInput {
  readonly channelId: string
  /** In order of first sight. */
  readonly events: ReadonlyArray<NostrEvent>
  readonly names: Names
  /** Whether the relay was asked for the whole channel at the end and answered. */
  readonly complete: boolean
  /** Takes secrets out of what was said. */
  readonly redact: (text: string) => string
}

/** The document. `truncated` is true when messages may be missing. */
export const transcript = ({ channelId, complete, events, names, redact }: TranscriptInput) => ({
  channel_id: channelId,
  message_count: events.length,
  truncated: !complete,
  messages: events.map((event) => ({
    id: event.id,
    kind: event.kind,
    created_at: event.created_at,
    pubkey: event.pubkey,
    author: names.get(event.pubkey)?.name ?? stranger(event.pubkey),
    author_role: names.get(event.pubkey)?.role ?? "unknown",
    content: redact(event.content),
    reply_to_event_id: replyTo(event),
    mentioned_pubkeys: tagValues(event, "p"),
    tags: event.tags.map((tag) => tag.map(redact))
  }))
})

/** The `e` tag that is marked as the reply. */
export const replyTo = (event: NostrEvent): string | null =>
  event.tags.find(([name, , , marker]) => name === "e" && marker === "reply")?.[1] ?? null
