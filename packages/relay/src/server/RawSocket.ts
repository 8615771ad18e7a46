/**
 * The platform's socket under a request, for what Effect's `Socket` does not offer: seeing how much a slow reader has left
 * unread, whether anything still comes, asking for a sign of life, and cutting the connection without the WebSocket's
 * farewell. Recognised by its shape, so that no platform is imported.
 */
import type { HttpServerRequest } from "effect/http"

/** The socket under one connection. */
export interface RawSocket {
  /** Bytes that were written and not yet taken by the operating system. */
  readonly unsentBytes: number
  /** Bytes that came in, ever. */
  readonly receivedBytes: number
  /** Asks the other side for a sign of life, which any WebSocket gives by itself. */
  ping(): void
  /** Holds back what is written until `uncork`, which hands all of it to the operating system in one call. */
  cork(): void
  uncork(): void
  /** Ends the connection at once. */
  cut(): void
}

/** The socket under an upgrade request, which stays valid after the upgrade; nothing on a platform that has none like it. */
export const of = ({ source }: HttpServerRequest.HttpServerRequest): RawSocket | undefined =>
  isNodeRequest(source) ? new NodeRawSocket(source.socket) : undefined

class NodeRawSocket implements RawSocket {
  private readonly socket: NodeRequest["socket"]

  constructor(socket: NodeRequest["socket"]) {
    this.socket = socket
  }

  get unsentBytes(): number {
    return this.socket.writableLength
  }

  get receivedBytes(): number {
    return this.socket.bytesRead
  }

  /** A whole frame between whole frames: the WebSocket library hands over each of its own in one go. */
  ping(): void {
    if (!this.socket.destroyed) this.socket.write(PING)
  }

  cork(): void {
    this.socket.cork()
  }

  uncork(): void {
    this.socket.uncork()
  }

  cut(): void {
    this.socket.destroy()
  }
}

/** A ping without content (RFC 6455, 5.5.2); a server's frames are not masked. */
const PING = Uint8Array.of(0x89, 0)

interface NodeRequest {
  readonly socket: {
    readonly writableLength: number
    readonly bytesRead: number
    readonly destroyed: boolean
    readonly destroy: () => void
    readonly cork: () => void
    readonly uncork: () => void
    readonly write: (bytes: Uint8Array) => unknown
  }
}

const isNodeRequest = (source: object): source is NodeRequest => {
  const socket: unknown = "socket" in source ? source.socket : undefined
  return (
    typeof socket === "object" &&
    socket !== null &&
    "writableLength" in socket &&
    "bytesRead" in socket &&
    "destroy" in socket &&
    typeof socket.destroy === "function" &&
    "cork" in socket &&
    typeof socket.cork === "function" &&
    "uncork" in socket &&
    typeof socket.uncork === "function" &&
    "write" in socket &&
    typeof socket.write === "function"
  )
}
