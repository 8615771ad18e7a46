/**
 * A WebSocket client that costs next to nothing, so that what is measured is the relay: frames are found by their lengths,
 * and read only where somebody waits for one. Text frames only, and none of a client's beyond 64 KiB.
 */
import { randomBytes } from "node:crypto"
import { connect, type Socket } from "node:net"

/** One open connection. */
export interface WireClient {
  readonly send: (...parts: ReadonlyArray<unknown>) => void
  /** The next frame, parsed. */
  readonly next: () => Promise<ReadonlyArray<unknown>>
  /** Waits until this many further frames have come, and drops them unread. */
  readonly skip: (frames: number) => Promise<void>
  readonly end: () => void
}

/** Opens a connection to a `ws://` URL. */
export const open = (url: string): Promise<WireClient> =>
  new Promise((resolve, reject) => {
    const { host, hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.setNoDelay(true)
    socket.once("error", reject)
    socket.write(
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
        `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n\r\n`
    )
    let head = Buffer.alloc(0)
    socket.on("data", function onData(chunk: Buffer) {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf("\r\n\r\n")
      if (end === -1) return
      socket.off("data", onData)
      resolve(speaking(socket, head.subarray(end + 4)))
    })
  })

const speaking = (socket: Socket, first: Buffer): WireClient => {
  let rest: Buffer = first
  let toSkip = 0
  let onSkipped: (() => void) | undefined
  let onFrame: ((frame: ReadonlyArray<unknown>) => void) | undefined
  const consume = () => {
    let at = 0
    while (onFrame !== undefined || toSkip > 0) {
      const frame = frameAt(rest, at)
      if (frame === undefined) break
      at = frame.end
      if (!frame.isText) continue
      if (toSkip > 0) {
        if (--toSkip === 0) onSkipped?.()
      } else {
        const take = onFrame
        onFrame = undefined
        take?.(JSON.parse(rest.toString("utf8", frame.start, frame.end)) as ReadonlyArray<unknown>)
      }
    }
    rest = rest.subarray(at)
  }
  socket.on("data", (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    consume()
  })
  return {
    send: (...parts) => void socket.write(masked(JSON.stringify(parts))),
    next: () =>
      new Promise((resolve) => {
        onFrame = resolve
        consume()
      }),
    skip: (frames) =>
      new Promise((resolve) => {
        toSkip = frames
        onSkipped = resolve
        consume()
      }),
    end: () => socket.destroy()
  }
}

/** The server's frames are not masked. */
const frameAt = (bytes: Buffer, at: number) => {
  if (bytes.length < at + 2) return undefined
  const short = (bytes[at + 1] ?? 0) & 0x7f
  const header = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < at + header) return undefined
  const length =
    short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2))
  const start = at + header
  return bytes.length < start + length
    ? undefined
    : { start, end: start + length, isText: ((bytes[at] ?? 0) & 0x0f) === 1 }
}

/** With a mask of zeros, which changes nothing. */
const masked = (text: string): Buffer => {
  const payload = Buffer.from(text)
  const header = payload.length < 126 ? Buffer.alloc(6) : Buffer.alloc(8)
  header[0] = 0x81
  header[1] = 0x80 | Math.min(payload.length, 126)
  if (payload.length >= 126) header.writeUInt16BE(payload.length, 2)
  return Buffer.concat([header, payload])
}
