/**
 * The text of a prompt, in the sections of the real program for agents that take no separate system prompt. Pure.
 */
import { type NostrEvent, tagValues } from "@buzz-orchestra/relay/NostrEvent"
import * as Thread from "../Thread.ts"
import { npubEncode } from "../internal/bech32.ts"

/** A channel as the agent is told about it. */
export interface ChannelInfo {
  readonly id: string
  readonly name: string
  readonly type: "stream" | "private" | "dm"
}

/** Everything a prompt is made of. */
export interface PromptParts {
  /** Sent with the first prompt of a session only. */
  readonly base: string | undefined
  readonly system: string | undefined
  readonly channel: ChannelInfo
  /** Earlier messages of the thread or direct conversation, oldest first. */
  readonly transcript: ReadonlyArray<NostrEvent>
  /** The batch, oldest first; never empty. */
  readonly events: ReadonlyArray<NostrEvent>
  /** Display names by public key, as far as they are known. */
  readonly names: ReadonlyMap<string, string>
}

/** The prompt. Sections are separated by blank lines; those that do not apply are left out. */
export const compose = (parts: PromptParts): string =>
  [section("[Base]", parts.base), section("[System]", parts.system), context(parts), transcript(parts), batch(parts)]
    .filter((text) => text !== "")
    .join("\n\n")

/** Who takes part in a batch: authors and everybody mentioned. */
export const participants = (events: ReadonlyArray<NostrEvent>): ReadonlyArray<string> => [
  ...new Set(events.flatMap((event) => [event.pubkey, ...tagValues(event, "p")]))
]

const section = (header: string, text: string | undefined): string =>
  text === undefined || text.trim() === "" ? "" : `${header}\n${text.trim()}`

const context = ({ channel, events }: PromptParts): string => {
  const last = events.at(-1)
  const parent = last === undefined ? undefined : Thread.parentOf(last)
  const root = last === undefined ? undefined : Thread.rootOf(last)
  const scope = channel.type === "dm" ? "dm" : parent === undefined ? "channel" : "thread"
  return [
    "[Context]",
    `Scope: ${scope}`,
    `Channel: ${named(channel)}`,
    ...(root === undefined ? [] : [`Thread root: ${root}`]),
    ...(parent === undefined ? [] : [`Parent: ${parent}`]),
    `Hint: pass the channel to \`buzz\` as ${channel.id}, without the #.`,
    ...(parent === undefined || last === undefined
      ? []
      : [`IMPORTANT: this is a reply in a thread. Answer with --reply-to ${last.id}.`])
  ].join("\n")
}

const transcript = ({ names, transcript }: PromptParts): string =>
  transcript.length === 0
    ? ""
    : ["[Conversation so far]", ...transcript.map((event) => `${who(event.pubkey, names)}: ${event.content}`)].join(
        "\n"
      )

const batch = (parts: PromptParts): string => {
  const [first, ...others] = parts.events
  if (first !== undefined && others.length === 0)
    return [`[Buzz event: ${label(first)}]`, ...described(first, parts)].join("\n")
  const blocks = parts.events.map((event, index) =>
    [`--- Event ${index + 1} (${label(event)}) ---`, ...described(event, parts)].join("\n")
  )
  return [`[Buzz events — ${parts.events.length} events]`, ...blocks].join("\n")
}

const label = (event: NostrEvent): string =>
  event.kind === 40_007
    ? "reminder"
    : event.kind === 46_010
      ? "approval"
      : tagValues(event, "p").length > 0
        ? "@mention"
        : "message"

const described = (event: NostrEvent, { channel, names }: PromptParts): ReadonlyArray<string> => [
  `Event ID: ${event.id}`,
  `Channel: ${named(channel)}`,
  `Kind: ${event.kind}`,
  `From: ${oneLine(names.get(event.pubkey) ?? "unknown")} (npub: ${npubEncode(event.pubkey)}, hex: ${event.pubkey})`,
  `Time: ${new Date(event.created_at * 1000).toISOString().slice(0, 19)}+00:00`,
  `Content: ${event.content}`,
  `Tags: ${JSON.stringify(event.tags)}`,
  `Parsed: mentions=[${tagValues(event, "p")
    .map((pubkey) => who(pubkey, names))
    .join(", ")}]`
]

const named = (channel: ChannelInfo): string => `${oneLine(channel.name)} (#${channel.id})`

const who = (pubkey: string, names: ReadonlyMap<string, string>): string =>
  `${oneLine(names.get(pubkey) ?? "unknown")} (${pubkey})`

/** A name with a line break could pose as a header. */
const oneLine = (name: string): string => name.replaceAll(/\s+/g, " ").trim()
