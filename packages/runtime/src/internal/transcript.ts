/**
 * `transcript.json`: who said what in the trial's channel. Pure.
 */
import { type NostrEvent, tagValues } from "@buzz-orchestra/relay/NostrEvent"
import { type Names, other, type People } from "./channelView.ts"

export interface TranscriptInput {
  readonly channelId: string
  /** In order of first sight. */
  readonly events: ReadonlyArray<NostrEvent>
  readonly names: Names
  readonly people: People
  readonly taskEventId: string | undefined
  /** Whether the relay was read to the channel's root at the end. */
  readonly complete: boolean
  /** Takes secrets out of what was said. */
  readonly redact: (text: string) => string
}

/** The document. `truncated` is true when messages may be missing, because the channel's root was not reached. */
export const transcript = ({ channelId, complete, events, names, people, redact, taskEventId }: TranscriptInput) => ({
  channel_id: channelId,
  message_count: events.length,
  truncated: isTruncated({ complete, events, taskEventId }),
  messages: events.map((event) => ({
    id: event.id,
    kind: event.kind,
    created_at: event.created_at,
    pubkey: event.pubkey,
    author: names.get(event.pubkey)?.name ?? other(event.pubkey, people),
    author_role: names.get(event.pubkey)?.role ?? "unknown",
    content: redact(event.content),
    reply_to_event_id: replyTo(event),
    mentioned_pubkeys: tagValues(event, "p"),
    tags: event.tags.map((tag) => tag.map(redact))
  }))
})

/** A root that is not among the events was not reached, whatever the relay said. */
export const isTruncated = ({
  complete,
  events,
  taskEventId
}: Pick<TranscriptInput, "complete" | "events" | "taskEventId">): boolean =>
  !complete || (taskEventId !== undefined && !events.some(({ id }) => id === taskEventId))

/** The `e` tag that is marked as the reply. */
export const replyTo = (event: NostrEvent): string | null =>
  event.tags.find(([name, , , marker]) => name === "e" && marker === "reply")?.[1] ?? null
