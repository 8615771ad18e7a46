/**
 * What an agent tells while it works, as lines of the log, and what it asks.
 */
import * as acp from "@agentclientprotocol/sdk"
import { Effect, Schema } from "effect"
import type { TracingLog } from "../TracingLog.ts"
import type { Line } from "./TurnOutcome.ts"

/**
 * Adds the handlers to a client. Lines are written while the notification is handled, so they stand before everything that
 * comes after it, the answer to the prompt included.
 */
export const register = (client: acp.ClientApp, log: TracingLog["Service"]): acp.ClientApp => {
  const write = (line: Line | undefined) =>
    line === undefined ? undefined : Effect.runSync(log.log(line.level, line.target, line.message, line.fields))
  return client
    .onNotification("session/update", ({ params }) => write(updateLine(params.update)))
    .onNotification(USAGE_METHOD, decodeUsage, ({ params }) =>
      write(params === undefined ? undefined : usageLine(params))
    )
    .onRequest("session/request_permission", ({ params }) => ({ outcome: permission(params.options) }))
}

/** The notification by which agents report usage. */
const USAGE_METHOD = "_goose/unstable/session/update"

const Counter = Schema.optionalKey(Schema.NullOr(Schema.Int))

const UsageUpdate = Schema.Struct({
  sessionId: Schema.String,
  update: Schema.Struct({
    sessionUpdate: Schema.Literal("usage_update"),
    accumulatedInputTokens: Counter,
    accumulatedOutputTokens: Counter,
    accumulatedCachedTokens: Counter
  })
})
type UsageUpdate = typeof UsageUpdate.Type

/** Other variants of the notification are none of ours. */
const decodeUsage = (params: unknown): UsageUpdate | undefined => {
  const exit = Schema.decodeUnknownExit(UsageUpdate)(params)
  return exit._tag === "Success" ? exit.value : undefined
}

/** `goose usage update session_id=… input=Some(n) output=Some(n) cached=n`. Pure. */
export const usageLine = ({ sessionId, update }: UsageUpdate): Line => ({
  level: "DEBUG",
  target: "acp::usage",
  message: "goose usage update",
  fields: {
    session_id: sessionId,
    input: some(update.accumulatedInputTokens),
    output: some(update.accumulatedOutputTokens),
    cached: update.accumulatedCachedTokens ?? 0
  }
})

const some = (count: number | null | undefined): string =>
  count === null || count === undefined ? "None" : `Some(${count})`

/** The line about one update; most kinds have none. Pure. */
export const updateLine = (update: acp.SessionUpdate): Line | undefined => {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
      return update.content.type === "text"
        ? { level: "INFO", target: "acp::stream", message: update.content.text }
        : undefined
    case "tool_call":
      return { level: "INFO", target: "acp::tool", message: `tool_call: ${update.title} (${update.kind ?? "other"})` }
    case "tool_call_update":
      return {
        level: "INFO",
        target: "acp::tool",
        message: `tool_call_update: ${update.toolCallId} → ${update.status ?? "updated"}`
      }
    default:
      return undefined
  }
}

/** Once, if that is offered; else no, once. Pure. */
export const permission = (options: ReadonlyArray<acp.PermissionOption>): acp.RequestPermissionOutcome => {
  const chosen =
    options.find((option) => option.kind === "allow_once") ?? options.find((option) => option.kind === "reject_once")
  return chosen === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId: chosen.optionId }
}
