/**
 * How `buzz` fails: one line of JSON on stderr, and an exit code that tells the kind. Pure.
 */
import { Schema } from "effect"
import type { BridgeError } from "../RelayBridge.ts"

/** The kinds, as they stand in the line's `error`. */
export const Kind = Schema.Literals([
  "user_error",
  "not_found",
  "relay_error",
  "network_error",
  "auth_error",
  "key_error",
  "error"
])
export type Kind = typeof Kind.Type

/** A command failed. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  kind: Kind,
  text: Schema.String,
  /** Whether the same call may succeed later. */
  isRetryable: Schema.Boolean
}) {
  override get message(): string {
    return this.text
  }
}

/** A failure of this kind that no repetition changes. */
export const failed = (kind: Kind, text: string): CommandFailed => new CommandFailed({ kind, text, isRetryable: false })

/** 0 is success; 5 (a conflict) cannot happen in the commands that this `buzz` has. */
export const exitCode = ({ kind }: CommandFailed): number => {
  switch (kind) {
    case "user_error":
    case "not_found":
      return 1
    case "relay_error":
    case "network_error":
      return 2
    case "auth_error":
    case "key_error":
      return 3
    case "error":
      return 4
  }
}

/** The line for stderr. */
export const render = ({ isRetryable, kind, text }: CommandFailed): string =>
  JSON.stringify({ error: kind, message: text, retryable: isRetryable })

/** What the relay's refusal means. `hasAuthTag`: whether `BUZZ_AUTH_TAG` is set, even empty. */
export const ofBridge = (error: BridgeError, hasAuthTag: boolean): CommandFailed => {
  switch (error._tag) {
    case "BridgeRefused": {
      const isAuth = error.status === 401 || error.status === 403
      const hint = error.status === 403 && hasAuthTag ? STALE_TAG : ""
      return new CommandFailed({
        kind: isAuth ? "auth_error" : "relay_error",
        text: `${error.message}${hint}`,
        isRetryable: [429, 502, 503, 504].includes(error.status)
      })
    }
    case "BridgeUnreachable":
      return new CommandFailed({ kind: "network_error", text: error.message, isRetryable: true })
    case "BridgeReplyMalformed":
      return failed("error", error.message)
  }
}

const STALE_TAG = " (BUZZ_AUTH_TAG is set — it may be stale or revoked; try unsetting it)"
