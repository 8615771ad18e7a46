/**
 * A channel as its relay describes it in the signed channel state (kind 39000). Pure.
 */
import { type NostrEvent, tagValues } from "./NostrEvent.ts"

/** A channel as its relay describes it. Texts are null where the channel has none. */
export interface FoundChannel {
  readonly channelId: string
  readonly name: string
  /** `stream` or `forum`. */
  readonly type: string
  readonly visibility: "public" | "private"
  readonly isArchived: boolean
  readonly about: string | null
  readonly topic: string | null
  readonly purpose: string | null
  /** After so many idle seconds the relay archives it; null means never. */
  readonly ttlSeconds: number | null
}

/** What the relay's event says. */
export const fromEvent = (event: NostrEvent): FoundChannel => {
  const first = (name: string): string | null => tagValues(event, name)[0] ?? null
  const ttl = first("ttl")
  return {
    channelId: first("d") ?? "",
    name: first("name") ?? "",
    type: first("t") ?? "stream",
    visibility: event.tags.some(([name]) => name === "private") ? "private" : "public",
    isArchived: first("archived") === "true",
    about: first("about"),
    topic: first("topic"),
    purpose: first("purpose"),
    ttlSeconds: ttl !== null && /^\d{1,10}$/.test(ttl) ? Number(ttl) : null
  }
}

/** What `buzz channels search` printed of a channel; fields that it does not print are unknown and null. */
export const fromPrinted = (fields: Readonly<Record<string, unknown>>): FoundChannel => {
  const text = (name: string): string | null => (typeof fields[name] === "string" ? fields[name] : null)
  const ttl = fields["ttl_seconds"]
  return {
    channelId: text("channel_id") ?? "",
    name: text("name") ?? "",
    type: text("channel_type") ?? "stream",
    visibility: fields["visibility"] === "private" ? "private" : "public",
    isArchived: fields["archived"] === true,
    about: text("about"),
    topic: text("topic"),
    purpose: text("purpose"),
    ttlSeconds: typeof ttl === "number" ? ttl : null
  }
}

/** Whether the channel has this name. Letters of ASCII count without their case, as the relay's programs compare them. */
export const isNamed = (channel: FoundChannel, name: string): boolean => lower(channel.name) === lower(name)

/** By name, then by id. */
export const inOrder = (a: FoundChannel, b: FoundChannel): number =>
  a.name === b.name ? compare(a.channelId, b.channelId) : compare(a.name, b.name)

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const lower = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
