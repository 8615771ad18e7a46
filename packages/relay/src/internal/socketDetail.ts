/** Says in a few words why a socket ended. */
import type { Socket } from "effect/socket"
import { causeText } from "./causeText.ts"

/** Such as `connect ECONNREFUSED 127.0.0.1:3000` or `closed with code 1006`. */
export const socketDetail = ({ reason }: Socket.SocketError): string => {
  if (reason._tag === "SocketCloseError") {
    return `closed with code ${reason.code}${reason.closeReason ? ` (${reason.closeReason})` : ""}`
  }
  return ("cause" in reason ? causeText(reason.cause) : undefined) ?? reason.message
}
