/**
 * Where a channel event stands in its thread (NIP-10 markers), checked against what the relay knows of the thread: a
 * client cannot put a reply under a root that is not its parent's.
 */
import { Result } from "effect"
import type { NostrEvent } from "../NostrEvent.ts"
import * as EventStore from "./EventStore.ts"

/** Replies below replies, counted from the root. */
export const MAX_DEPTH = 100

/**
 * The position that the event's `reply` and `root` markers claim. An event without a `reply` marker is top level,
 * also when it names a root; `e` tags without a marker mean something else. Failures are the relay's texts.
 */
export const place = (
  store: EventStore.EventStore,
  channelId: string,
  event: NostrEvent
): Result.Result<EventStore.ThreadPosition | undefined, string> => {
  const parentId = marked(event, "reply")
  if (parentId === undefined) return Result.succeed(undefined)
  const parent = EventStore.get(store, parentId)
  if (parent === undefined) return Result.fail("invalid: reply parent not found")
  if (parent.channelId === undefined) return Result.fail("invalid: parent event has no channel association")
  if (parent.channelId !== channelId) return Result.fail("invalid: parent event belongs to a different channel")
  const rootId = parent.thread?.rootId ?? parentId
  if ((marked(event, "root") ?? parentId) !== rootId)
    return Result.fail("invalid: root tag does not match thread ancestry")
  const depth = (parent.thread?.depth ?? 0) + 1
  if (depth > MAX_DEPTH) return Result.fail("invalid: thread depth limit exceeded")
  return Result.succeed({ rootId, parentId, depth })
}

const marked = (event: NostrEvent, marker: string): string | undefined =>
  event.tags.find((tag) => tag[0] === "e" && tag[3] === marker)?.[1]
