/**
 * What is said in a channel that is watched, as lines for a person and for programs. Pure: who has which name is a parameter.
 */
import type { Said, Utterance } from "@buzz-orchestra/relay/Conversation"
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import type { ObserverStatus } from "@buzz-orchestra/relay/RelayObserver"
import { objectLine } from "@buzz-orchestra/runtime/EventLine"
import type { AgentView } from "@buzz-orchestra/runtime/TrialEvent"
import { clip, oneLine } from "./internal/terminalText.ts"
import { stateStyle, stateText } from "./Render.ts"
import type { Style } from "./Style.ts"

/** A name by public key. */
export type NameOf = (pubkey: string) => string

/** Columns of a message that is only pointed at. */
const QUOTE_COLUMNS = 40

/** Columns of a message. The relay has the whole text. */
const TEXT_COLUMNS = 400

/** The keys that an utterance names. */
export const peopleOf = (utterance: Utterance): ReadonlyArray<string> => {
  const target = "target" in utterance ? utterance.target : undefined
  return [
    ...("author" in utterance ? [utterance.author] : [utterance.actor]),
    ...("mentions" in utterance ? [...utterance.mentions, utterance.replyTo?.author] : []),
    typeof target === "object" ? target.author : target
  ].filter((pubkey) => pubkey !== undefined)
}

/** One line. `at` is when it was said, by its author's clock, in milliseconds. */
export const utteranceLine = (utterance: Utterance, at: number, nameOf: NameOf, style: Style): string =>
  `${stamp(at, style)}${sentence(utterance, nameOf, style)}`

/** One object. `seenAt` is when it was seen here. */
export const utteranceObject = (utterance: Utterance, event: NostrEvent, seenAt: number, nameOf: NameOf): string => {
  const named = (pubkey: string | undefined) => (pubkey === undefined ? undefined : nameOf(pubkey))
  const { _tag } = utterance
  if (_tag === "Announced") {
    const { actor, target, type } = utterance
    return objectLine(_tag, seenAt, { type, actor: named(actor), target: named(target), message: event })
  }
  return objectLine(_tag, seenAt, {
    author: nameOf(utterance.author),
    ...(_tag === "Said"
      ? {
          mentions: utterance.mentions.map(nameOf),
          reply_to: utterance.replyTo?.id,
          reply_to_author: named(utterance.replyTo?.author)
        }
      : {}),
    ...("target" in utterance ? { target: utterance.target.id, target_author: nameOf(utterance.target.author) } : {}),
    message: event
  })
}

/** What an agent of a trial on this machine does now. */
export const stateLine = (agentId: string, view: AgentView, at: number, style: Style): string => {
  const text = view._tag === "InTurn" ? `in turn ${view.turn}` : stateText(view, at)
  return `${stamp(at, style)}${style.bold(oneLine(agentId))} ${stateStyle(view, style)(text)}`
}

/** How the connection fares; nothing about the first one, which everything that is shown proves. */
export const statusLine = (status: ObserverStatus, at: number, style: Style): string | undefined => {
  if (status._tag === "Reconnecting") {
    return `${stamp(at, style)}${style.bad("connection lost:")} ${oneLine(status.detail)}; connecting again`
  }
  return status.attempt > 1 ? `${stamp(at, style)}${style.dim("connected again")}` : undefined
}

/** Hours, minutes and seconds in UTC, as everything in a bundle. */
const stamp = (at: number, style: Style): string => `${style.dim(new Date(at).toISOString().slice(11, 19))}  `

const sentence = (utterance: Utterance, nameOf: NameOf, style: Style): string => {
  if (utterance._tag === "Announced") return style.dim(announcement(utterance, nameOf))
  const author = style.bold(oneLine(nameOf(utterance.author)))
  switch (utterance._tag) {
    case "Said": {
      const to = utterance.mentions.map((pubkey) => oneLine(nameOf(pubkey))).join(", ")
      const answered = utterance.replyTo === undefined ? "" : style.dim(` (to ${quoteOf(utterance.replyTo, nameOf)})`)
      return `${author}${to === "" ? "" : ` → ${to}`}${answered}: ${clip(oneLine(utterance.text), TEXT_COLUMNS)}`
    }
    case "Edited":
      return `${author} edited ${quote(utterance.target)}: ${clip(oneLine(utterance.text), TEXT_COLUMNS)}`
    case "Deleted":
      return `${author} deleted ${quoteOf(utterance.target, nameOf)}`
    case "Reacted":
      return style.dim(`${author} ${oneLine(utterance.emoji)} ${quoteOf(utterance.target, nameOf)}`)
    case "Typing":
      return style.dim(`${author} is typing`)
  }
}

const quote = ({ text }: Said): string => `“${clip(oneLine(text), QUOTE_COLUMNS)}”`

const quoteOf = (said: Said, nameOf: NameOf): string => `${oneLine(nameOf(said.author))}: ${quote(said)}`

/** The relay's own words, which are names of things that happened. */
const announcement = (
  { actor, target, type }: Extract<Utterance, { readonly _tag: "Announced" }>,
  nameOf: NameOf
): string => {
  const what = oneLine(type).replaceAll("_", " ")
  const whom = target === undefined ? "" : `: ${oneLine(nameOf(target))}`
  return actor === undefined || actor === target ? `${what}${whom}` : `${oneLine(nameOf(actor))}: ${what}${whom}`
}
