/**
 * Threads as Buzz writes them into `e` tags (NIP-10 with markers). Pure.
 */
import type { NostrEvent, Tag } from "@buzz-orchestra/relay/NostrEvent"

/** Root of the thread that an event belongs to, when it is a reply: the `root` marker's value, else the `reply` marker's. */
export const rootOf = (event: Pick<NostrEvent, "tags">): string | undefined => marked(event, "root") ?? parentOf(event)

/** What an event answers, when it is a reply. */
export const parentOf = (event: Pick<NostrEvent, "tags">): string | undefined => marked(event, "reply")

/** The tags of a reply to `parent`: one when the parent is top level, root and parent otherwise. */
export const replyTags = (parent: Pick<NostrEvent, "id" | "tags">): ReadonlyArray<Tag> => {
  const root = rootOf(parent) ?? parent.id
  const reply: Tag = ["e", parent.id, "", "reply"]
  return root === parent.id ? [reply] : [["e", root, "", "root"], reply]
}

const marked = (event: Pick<NostrEvent, "tags">, marker: string): string | undefined =>
  event.tags.find((tag) => tag[0] === "e" && tag[3] === marker)?.[1]
