/**
 * The platform's socket under a request, for the two things Effect's `Socket` does not offer: seeing how much a slow
 * reader has left unread, and cutting the connection without the WebSocket's farewell. Recognised by its shape, so
 * that no platform is imported; where it is missing nothing is ever unread and nothing can be cut.
 */
import type { HttpServerRequest } from "effect/http"

/** The socket under one connection. */
export interface RawSocket {
  /** Bytes that were written and not yet taken by the operating system. */
  readonly unsentBytes: () => number
  /** Ends the connection at once. */
  readonly cut: () => void
}

/** The socket under an upgrade request; it stays valid after the upgrade. */
export const of = (request: HttpServerRequest.HttpServerRequest): RawSocket => {
  const { source } = request
  if (!isNodeRequest(source)) return { unsentBytes: () => 0, cut: () => {} }
  const { socket } = source
  return { unsentBytes: () => socket.writableLength, cut: () => socket.destroy() }
}

interface NodeRequest {
  readonly socket: { readonly writableLength: number; readonly destroy: () => void }
}

const isNodeRequest = (source: object): source is NodeRequest => {
  const socket: unknown = "socket" in source ? source.socket : undefined
  return (
    typeof socket === "object" &&
    socket !== null &&
    "writableLength" in socket &&
    "destroy" in socket &&
    typeof socket.destroy === "function"
  )
}
