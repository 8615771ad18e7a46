/** Says in a few words why a socket ended. */
import type { Socket } from "effect/socket"

/** Such as `connect ECONNREFUSED 127.0.0.1:3000` or `closed with code 1006`. */
export const socketDetail = ({ reason }: Socket.SocketError): string => {
  if (reason._tag === "SocketCloseError") {
    return `closed with code ${reason.code}${reason.closeReason ? ` (${reason.closeReason})` : ""}`
  }
  const cause = "cause" in reason ? causeMessage(reason.cause) : undefined
  return cause === undefined ? reason.message : cause
}

/** WebSocket errors arrive as an event that carries a message or an error. */
const causeMessage = (cause: unknown): string | undefined => {
  if (typeof cause !== "object" || cause === null) return undefined
  if ("message" in cause && typeof cause.message === "string" && cause.message !== "") return cause.message
  return "error" in cause ? causeMessage(cause.error) : undefined
}
