/**
 * Which kinds a user may submit, and where each belongs: in a channel or on the relay at large. Kinds of features
 * that this relay does not have (workflows, direct messages, uploads) are refused as unknown.
 */
import * as EventKind from "../EventKind.ts"
import * as RelayMembers from "./RelayMembers.ts"

/** How an event reaches the relay: by `POST /events` or as an `EVENT` frame. */
export type Transport = "http" | "ws"

/** What decides the channel under which an event is kept. */
export type ChannelSource = "tag" | "target" | "none"

const range = (first: number, last: number): ReadonlyArray<number> =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)

/** Kinds that live in a channel and name it in an `h` tag. */
const CHANNEL_KINDS: ReadonlySet<number> = new Set([
  EventKind.Message,
  EventKind.AddMember,
  EventKind.RemoveMember,
  EventKind.EditMetadata,
  EventKind.DeleteMessage,
  EventKind.CreateChannel,
  EventKind.DeleteChannel,
  EventKind.JoinChannel,
  EventKind.LeaveChannel,
  ...range(40_002, 40_008),
  40_100,
  ...range(45_001, 45_003),
  ...range(48_100, 48_103),
  48_106
])

/** Kinds that belong to no channel; an `h` tag on them means nothing. Notes, lists, statuses, code review (NIP-34). */
const GLOBAL_KINDS: ReadonlySet<number> = new Set([
  EventKind.Profile,
  1,
  3,
  EventKind.GiftWrap,
  ...range(1617, 1619),
  1621,
  ...range(1630, 1633),
  ...range(10_000, 10_003),
  10_030,
  EventKind.AgentProfile,
  30_000,
  30_003,
  30_023,
  30_030,
  30_078,
  EventKind.Engram,
  30_315,
  30_617,
  30_618
])

/** Kinds that only the relay itself publishes or answers with. */
export const RELAY_ONLY: ReadonlySet<number> = new Set([
  40_901,
  EventKind.PresenceSnapshot,
  30_621,
  EventKind.HiddenDirectMessages
])

/** Signed authorisations. Their range is ephemeral, but whoever saw one passed on could use it. */
const AUTHORISATIONS: ReadonlySet<number> = new Set([EventKind.RelayAuth, EventKind.HttpAuth, 24_242])

/** Whether a user may submit this kind at all. Ephemeral events travel by WebSocket only. */
export const isAllowed = (kind: number, via: Transport): boolean =>
  RelayMembers.isRequest(kind)
    ? true
    : EventKind.isEphemeral(kind)
      ? via === "ws" && !AUTHORISATIONS.has(kind)
      : kind === EventKind.Deletion || kind === EventKind.Reaction || CHANNEL_KINDS.has(kind) || GLOBAL_KINDS.has(kind)

/** Where to look for the event's channel. `target`: the channel of the event that its `e` or `a` tag names. */
export const channelSource = (kind: number): ChannelSource => {
  if (kind === EventKind.Deletion || kind === EventKind.Reaction) return "target"
  if (CHANNEL_KINDS.has(kind)) return "tag"
  return EventKind.isEphemeral(kind) && kind !== EventKind.Presence && kind !== EventKind.ObserverFrame ? "tag" : "none"
}

/** Whether an event of this kind is refused without an `h` tag. A request to join has a refusal of its own. */
export const needsChannel = (kind: number): boolean => CHANNEL_KINDS.has(kind) && kind !== EventKind.JoinChannel
