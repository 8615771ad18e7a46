/**
 * What the events of a channel mean to somebody who reads along: who says what to whom in which thread, what is changed or
 * taken back, what the relay announces. Pure. Fed with events that verify and belong to the channel, in the order of sight.
 */
import * as EventKind from "./EventKind.ts"
import { profileFields } from "./internal/templates.ts"
import { type NostrEvent, tagValues } from "./NostrEvent.ts"

/** The kinds that mean something here. */
export const KINDS: ReadonlyArray<number> = [
  EventKind.Message,
  EventKind.MessageV2,
  EventKind.Diff,
  EventKind.MessageEdit,
  EventKind.Deletion,
  EventKind.DeleteMessage,
  EventKind.Reaction,
  EventKind.Typing,
  EventKind.SystemMessage
]

/** What one event means. Public keys stand for people; whoever shows them has the names. */
export type Utterance =
  | {
      readonly _tag: "Said"
      readonly author: string
      readonly text: string
      readonly mentions: ReadonlyArray<string>
      /** What it answers, when that was seen. */
      readonly replyTo: Said | undefined
      /** Of a reply: also shown outside of its thread. */
      readonly isBroadcast: boolean
    }
  /** The author's new text of an own message. */
  | { readonly _tag: "Edited"; readonly author: string; readonly text: string; readonly target: Said }
  /** By its author, or by who may in this channel: the relay has checked. */
  | { readonly _tag: "Deleted"; readonly author: string; readonly target: Said }
  | { readonly _tag: "Reacted"; readonly author: string; readonly emoji: string; readonly target: Said }
  /** At most once in a while: agents say it every three seconds. */
  | { readonly _tag: "Typing"; readonly author: string }
  /** Signed by the relay. `type` is one of its words, such as `member_joined`. */
  | {
      readonly _tag: "Announced"
      readonly type: string
      readonly actor: string | undefined
      readonly target: string | undefined
    }

/** A message as it reads now. */
export interface Said {
  readonly id: string
  readonly author: string
  readonly text: string
}

/** What was said so far. A value: the caller keeps the latest. */
export interface Conversation {
  readonly said: ReadonlyMap<string, Said>
  /** When whoever is typing was last told of, milliseconds. */
  readonly typing: ReadonlyMap<string, number>
}

/** Before the first event. */
export const empty: Conversation = { said: new Map(), typing: new Map() }

/** How long somebody who types is not told of again, in milliseconds, unless they say something. */
export const TYPING_MILLIS = 15_000

/**
 * Takes the next event, seen at `now` (milliseconds). It means nothing (`undefined`) when it changes what was not seen, or what
 * is another's, and when it repeats that somebody is typing.
 */
export const step = (
  conversation: Conversation,
  event: NostrEvent,
  now: number
): readonly [Conversation, Utterance | undefined] => {
  const author = event.pubkey
  switch (event.kind) {
    case EventKind.Message:
    case EventKind.MessageV2:
    case EventKind.Diff: {
      const message: Said = { id: event.id, author, text: event.content }
      const typing = without(conversation.typing, author)
      return [{ said: new Map(conversation.said).set(event.id, message), typing }, said(conversation, event)]
    }
    case EventKind.MessageEdit: {
      const target = targetOf(conversation, event)
      if (target?.author !== author) return [conversation, undefined]
      const edited = { ...target, text: event.content }
      return [
        { ...conversation, said: new Map(conversation.said).set(target.id, edited) },
        { _tag: "Edited", author, text: event.content, target }
      ]
    }
    case EventKind.Deletion:
    case EventKind.DeleteMessage: {
      const target = targetOf(conversation, event)
      // One's own with the kind of everybody; another's only with that of administrators, whose right the relay has checked.
      const isAllowed = target !== undefined && (target.author === author || event.kind === EventKind.DeleteMessage)
      if (!isAllowed) return [conversation, undefined]
      return [
        { ...conversation, said: without(conversation.said, target.id) },
        { _tag: "Deleted", author, target }
      ]
    }
    case EventKind.Reaction: {
      const target = targetOf(conversation, event)
      const emoji = event.content === "" ? "+" : event.content
      return [conversation, target && { _tag: "Reacted", author, emoji, target }]
    }
    case EventKind.Typing: {
      const told = conversation.typing.get(author)
      if (told !== undefined && now - told < TYPING_MILLIS) return [conversation, undefined]
      const typing = new Map(conversation.typing).set(author, now)
      return [
        { ...conversation, typing },
        { _tag: "Typing", author }
      ]
    }
    case EventKind.SystemMessage:
      return [conversation, announced(event)]
    default:
      return [conversation, undefined]
  }
}

const said = (conversation: Conversation, event: NostrEvent): Utterance => {
  const parent = event.tags.find((tag) => tag[0] === "e" && tag[3] === "reply")?.[1]
  return {
    _tag: "Said",
    author: event.pubkey,
    text: event.content,
    mentions: [...new Set(tagValues(event, "p"))],
    replyTo: parent === undefined ? undefined : conversation.said.get(parent),
    isBroadcast: tagValues(event, "broadcast").includes("1")
  }
}

/** The relay names the last `e` tag's event the target. */
const targetOf = (conversation: Conversation, event: NostrEvent): Said | undefined =>
  conversation.said.get(tagValues(event, "e").at(-1) ?? "")

const announced = (event: NostrEvent): Utterance | undefined => {
  const { actor, target, type } = profileFields(event)
  if (typeof type !== "string") return undefined
  return {
    _tag: "Announced",
    type,
    actor: typeof actor === "string" ? actor : undefined,
    target: typeof target === "string" ? target : undefined
  }
}

const without = <A>(map: ReadonlyMap<string, A>, key: string): ReadonlyMap<string, A> => {
  if (!map.has(key)) return map
  const next = new Map(map)
  next.delete(key)
  return next
}
