/**
 * How a turn can end, what is logged about it, and what follows for its batch, its session and its agent process. Pure.
 */
import type { Level } from "../TracingLine.ts"
import type { BatchEnd } from "./TurnQueue.ts"

/** Stop reasons of ACP. */
export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled"

/** Who wanted a running turn to end. */
export type CancelledBy = "owner" | "newer event"

/** How a turn ended. */
export type TurnOutcome =
  | { readonly _tag: "Stopped"; readonly reason: StopReason; readonly by: CancelledBy | undefined }
  /** The agent answered with an error; its process is well. */
  | { readonly _tag: "AgentReportedError"; readonly detail: string }
  /** The agent's answer was none of the protocol. */
  | { readonly _tag: "ProtocolBroken"; readonly detail: string }
  | { readonly _tag: "AgentExited" }
  /** `cancelled`: whether the agent still answered the cancel. */
  | { readonly _tag: "IdledOut"; readonly seconds: number; readonly sessionId: string; readonly cancelled: boolean }
  | { readonly _tag: "TookTooLong"; readonly seconds: number }

/** The agent wrote nothing for so long. */
export const idledOut = (fields: Omit<Extract<TurnOutcome, { _tag: "IdledOut" }>, "_tag">): TurnOutcome => ({
  _tag: "IdledOut",
  ...fields
})

/** The turn reached its cap. */
export const tookTooLong = (seconds: number): TurnOutcome => ({ _tag: "TookTooLong", seconds })

/** One line of the log. */
export interface Line {
  readonly level: Level
  readonly target: string
  readonly message: string
  readonly fields?: Readonly<Record<string, string | number>>
}

/** What follows from an outcome. */
export interface Consequence {
  readonly batch: BatchEnd
  /** Whether the session can take another prompt. */
  readonly session: "kept" | "rotated"
  readonly agent: "kept" | "replaced"
}

/** The lines under `pool::prompt`, in order. Of the failures only an answered cancel has an end line. */
export const endLines = (outcome: TurnOutcome, channel: string, agent: number): ReadonlyArray<Line> => {
  switch (outcome._tag) {
    case "Stopped":
      return [
        promptLine(outcome.reason === "end_turn" ? "INFO" : "WARN", stopped(outcome.reason, `channel ${channel}`))
      ]
    case "AgentReportedError":
      return [promptLine("ERROR", `session_prompt error: Agent reported error: ${outcome.detail}`)]
    case "ProtocolBroken":
      return [promptLine("ERROR", `session_prompt error: Protocol error: ${outcome.detail}`)]
    case "AgentExited":
      return [promptLine("ERROR", `agent ${agent} exited during prompt`)]
    case "IdledOut":
      return outcome.cancelled ? [promptLine("WARN", `turn cancelled for channel ${channel}`)] : []
    case "TookTooLong":
      return [
        promptLine(
          "ERROR",
          `hard timeout (${outcome.seconds}s cap) — agent process is unrecoverable, invalidating all sessions`
        )
      ]
  }
}

/** The line that announces an idle time-out, before the agent is asked to stop. */
export const idleLine = (seconds: number, sessionId: string): Line =>
  promptLine("WARN", `idle timeout (${seconds}s) — cancelling session ${sessionId}`)

/** The line about the agent process, for everything that is no normal end. */
export const returnLine = (outcome: TurnOutcome, agent: number): Line | undefined => {
  const line = (message: string, fields: Line["fields"]): Line => ({
    level: "WARN",
    target: "buzz_acp",
    message,
    fields: { agent, ...fields }
  })
  switch (outcome._tag) {
    case "Stopped":
      return undefined
    case "AgentReportedError":
      return line("agent_returned (application error — pipe intact)", {
        outcome: `"error"`,
        error: `Agent reported error: ${outcome.detail}`
      })
    case "AgentExited":
      return line("agent_returned — respawning", { outcome: `"exited"` })
    case "ProtocolBroken":
      return line("agent_returned — respawning", { outcome: `"protocol_error"` })
    case "IdledOut":
    case "TookTooLong":
      return line("agent_returned — respawning", { outcome: `"timeout"` })
  }
}

/** What follows. Everything that failed is tried again; a process that cannot be trusted any more is replaced. */
export const consequence = (outcome: TurnOutcome): Consequence => {
  switch (outcome._tag) {
    case "Stopped":
      return {
        batch: outcome.reason !== "cancelled" ? "delivered" : outcome.by === "newer event" ? "merged" : "discarded",
        session: outcome.reason === "max_tokens" || outcome.reason === "max_turn_requests" ? "rotated" : "kept",
        agent: "kept"
      }
    case "AgentReportedError":
      return { batch: "failed", session: "kept", agent: "kept" }
    default:
      return { batch: "failed", session: "rotated", agent: "replaced" }
  }
}

const promptLine = (level: Level, message: string): Line => ({ level, target: "pool::prompt", message })

const stopped = (reason: StopReason, label: string): string => {
  switch (reason) {
    case "end_turn":
      return `turn complete for ${label}: end_turn`
    case "max_tokens":
    case "max_turn_requests":
      return `turn hit ${reason} for ${label} — session will be rotated`
    case "refusal":
      return `turn refused for ${label}`
    case "cancelled":
      return `turn cancelled for ${label}`
  }
}
