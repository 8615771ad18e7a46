/**
 * What a line of an agent's log means for the trial. Pure.
 *
 * A marker counts only as the whole message of a record and only under the target that writes it, because everything an
 * agent says is printed to the same log. Texts and targets are those of `buzz-acp` and, for the history, `buzz-agent`.
 */
import type { LogLine } from "./LogRecord.ts"

/** How a turn ended whose end the agent logged. `cancelled` is followed by another turn on the same events. */
export type TurnStop = "end_turn" | "max_tokens" | "max_turn_requests" | "refused" | "cancelled"

/** How a turn failed; none of these logs an end. */
export type TurnFailure = "hard-timeout" | "idle-timeout" | "agent-exited" | "prompt-error"

/** What a line of an agent's log means. Labels are `channel <uuid>` or `heartbeat`. */
export type AgentSignal =
  /** It hears this channel. */
  | { readonly _tag: "Subscribed"; readonly channelId: string }
  /** It will not hear this channel. */
  | { readonly _tag: "SubscribeFailed"; readonly channelId: string; readonly detail: string }
  /** It hears no channel at all and never will. */
  | { readonly _tag: "NoSubscriptions"; readonly detail: string }
  | { readonly _tag: "TurnStarted"; readonly label: string }
  | { readonly _tag: "TurnEnded"; readonly label: string; readonly stop: TurnStop }
  | { readonly _tag: "TurnFailed"; readonly kind: TurnFailure; readonly detail: string }
  /** A failed batch waits for its next attempt. */
  | { readonly _tag: "Requeued"; readonly detail: string }
  /** A batch failed too often and was thrown away. */
  | { readonly _tag: "DeadLettered"; readonly detail: string }
  /** None of its agent processes is left; it is about to exit, with code 0. */
  | { readonly _tag: "AllAgentsDead" }
  /** The turn that ended just now had been given these events. */
  | { readonly _tag: "Delivered"; readonly channelId: string; readonly eventIds: ReadonlyArray<string> }
  /** An event was offered to the running turn; `delivered` says whether the turn took it. */
  | { readonly _tag: "SteerAcked"; readonly eventId: string; readonly delivered: boolean }
  /** Tokens of a session so far. `undefined` means that the agent does not know, which is not zero. */
  | {
      readonly _tag: "Usage"
      readonly sessionId: string
      readonly input: number | undefined
      readonly output: number | undefined
      readonly cached: number | undefined
    }
  | { readonly _tag: "ToolCalled"; readonly title: string }
  /** News of a call: `completed` and `failed` are its last. `id` is the agent's, and no `ToolCalled` names it. */
  | { readonly _tag: "ToolUpdated"; readonly id: string; readonly status: string }
  /** The history was replaced by a summary; `before` is its size in tokens, where the agent says it. */
  | { readonly _tag: "HandedOff"; readonly number: number; readonly before: number | undefined }
  /** The history was cut off instead. */
  | { readonly _tag: "HistoryTruncated"; readonly detail: string }

/** The session of usage lines that name none. */
export const UNKNOWN_SESSION = "unknown"

/** What the line means, or `undefined`: most lines mean nothing. */
export const classify = (line: LogLine): AgentSignal | undefined => {
  if (line._tag !== "Record") return undefined
  const { message, target } = line
  switch (target) {
    case "pool::prompt":
      return prompt(message)
    case "acp::usage":
      return usage(message)
    case "acp::tool":
      return tool(message)
  }
  if (isWithin(target, "buzz_acp")) return acp(message, target)
  if (isWithin(target, "buzz_agent")) return history(message)
  return undefined
}

/** The crate itself or one of its modules. */
const isWithin = (target: string, crate: string): boolean => target === crate || target.startsWith(`${crate}::`)

const LABEL = String.raw`(channel \S+|heartbeat)`
const TURN_STARTED = new RegExp(`^turn starting for ${LABEL}$`)
const TURN_COMPLETE = new RegExp(`^turn complete for ${LABEL}: end_turn$`)
const TURN_HIT = new RegExp(`^turn hit (max_tokens|max_turn_requests) for ${LABEL}(?: — session will be rotated)?$`)
const TURN_STOPPED = new RegExp(`^turn (refused|cancelled) for ${LABEL}$`)
const DELIVERED = /^turn delivered Buzz events for channel (\S+): ([0-9a-f]{64}(?:,\s*[0-9a-f]{64})*)$/
const FAILURES: ReadonlyArray<readonly [TurnFailure, RegExp]> = [
  ["hard-timeout", /^hard timeout \(/],
  ["idle-timeout", /^idle timeout \(/],
  ["agent-exited", /^agent \d+ exited during prompt$/],
  ["prompt-error", /^session_prompt error: /]
]

const prompt = (message: string): AgentSignal | undefined => {
  const started = TURN_STARTED.exec(message)
  if (started?.[1] !== undefined) return { _tag: "TurnStarted", label: started[1] }
  const complete = TURN_COMPLETE.exec(message)
  if (complete?.[1] !== undefined) return { _tag: "TurnEnded", label: complete[1], stop: "end_turn" }
  const stopped = TURN_HIT.exec(message) ?? TURN_STOPPED.exec(message)
  if (stopped?.[2] !== undefined) return { _tag: "TurnEnded", label: stopped[2], stop: stopped[1] as TurnStop }
  const delivered = DELIVERED.exec(message)
  if (delivered?.[1] !== undefined && delivered[2] !== undefined)
    return { _tag: "Delivered", channelId: delivered[1], eventIds: delivered[2].split(/,\s*/) }
  const failure = FAILURES.find(([, pattern]) => pattern.test(message))
  return failure === undefined ? undefined : { _tag: "TurnFailed", kind: failure[0], detail: message }
}

const SUBSCRIBED = /^subscribed to channel (\S+)$/
const SUBSCRIBE_FAILED = /^failed to subscribe to channel ([^\s:]+): (.*)$/s
const NO_SUBSCRIPTIONS = /^no channel subscriptions resolved(?: — agent will sit idle)?$/
const STEER_ACK = /^non-cancelling steer ack received(?: .*)? event_id="?([0-9a-f]{64})"? (?:.* )?ack=(.*)$/s

const acp = (message: string, target: string): AgentSignal | undefined => {
  // `buzz_acp::relay` says it too, at debug, before the relay has answered anything.
  const subscribed = target === "buzz_acp" ? SUBSCRIBED.exec(message) : null
  if (subscribed?.[1] !== undefined) return { _tag: "Subscribed", channelId: subscribed[1] }
  const failed = SUBSCRIBE_FAILED.exec(message)
  if (failed?.[1] !== undefined && failed[2] !== undefined)
    return { _tag: "SubscribeFailed", channelId: failed[1], detail: failed[2] }
  if (NO_SUBSCRIPTIONS.test(message)) return { _tag: "NoSubscriptions", detail: message }
  if (message.startsWith("requeueing failed batch with backoff")) return { _tag: "Requeued", detail: message }
  if (message.startsWith("dead-lettering batch ")) return { _tag: "DeadLettered", detail: message }
  if (/^all agents dead(?: — exiting)?$/.test(message)) return { _tag: "AllAgentsDead" }
  const ack = STEER_ACK.exec(message)
  if (ack?.[1] === undefined || ack[2] === undefined) return undefined
  return { _tag: "SteerAcked", eventId: ack[1], delivered: ack[2].startsWith("Ok(Success") }
}

const usage = (message: string): AgentSignal | undefined => {
  if (!/^goose usage update(?: |$)/.test(message)) return undefined
  const fields = new Map([...message.matchAll(/ ([a-z_]+)=(\S+)/g)].map(([, key = "", value = ""]) => [key, value]))
  const input = counter(fields.get("input"))
  const output = counter(fields.get("output"))
  const cached = counter(fields.get("cached") ?? "None")
  if (input === undefined || output === undefined || cached === undefined) return undefined
  return {
    _tag: "Usage",
    sessionId: fields.get("session_id")?.replaceAll('"', "") || UNKNOWN_SESSION,
    input: input.value,
    output: output.value,
    cached: cached.value
  }
}

/** A counter as old builds print it (`12`) and as new ones do (`Some(12)`, `None`); `undefined` is no counter. */
const counter = (text: string | undefined): { readonly value: number | undefined } | undefined => {
  if (text === "None") return { value: undefined }
  const [, plain, some] = /^(?:(\d{1,15})|Some\((\d{1,15})\))$/.exec(text ?? "") ?? []
  const digits = plain ?? some
  return digits === undefined ? undefined : { value: Number(digits) }
}

/** A title with several lines has its kind on the last. */
const tool = (message: string): AgentSignal | undefined => {
  const [, id, status] = /^tool_call_update: (\S+) → (\w+)$/.exec(message) ?? []
  if (id !== undefined && status !== undefined) return { _tag: "ToolUpdated", id, status }
  const [, title] = /^tool_call: (.+?)(?: \(\w+\))?$/.exec(message) ?? []
  return title === undefined ? undefined : { _tag: "ToolCalled", title }
}

const HANDED_OFF = /^handoff #(\d+) \(history \d+ -> \d+ items(?:; (\d+) -> \d+ tokens)?\)/

const history = (message: string): AgentSignal | undefined => {
  const [, number, before] = HANDED_OFF.exec(message) ?? []
  if (number !== undefined)
    return { _tag: "HandedOff", number: Number(number), before: before === undefined ? undefined : Number(before) }
  if (/handoff/i.test(message) && /truncat/i.test(message)) return { _tag: "HistoryTruncated", detail: message }
  return undefined
}
