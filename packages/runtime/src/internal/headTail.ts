/**
 * Keeps the beginning and the end of a byte stream within a limit and counts what it leaves out between them.
 */
import { concatBytes } from "./concatBytes.ts"

export interface HeadTail {
  push(bytes: Uint8Array): void
  /** Head and tail, joined without a gap. */
  bytes(): Uint8Array
  /** Bytes left out so far. */
  omitted(): number
}

/** Half of `limit` (bytes) is kept from each end. Holds at most `limit` bytes plus the size of one push. */
export const makeHeadTail = (limit: number): HeadTail => {
  const headLimit = Math.ceil(limit / 2)
  const tailLimit = limit - headLimit
  const head: Array<Uint8Array> = []
  const tail: Array<Uint8Array> = []
  let headLength = 0
  let tailLength = 0
  let omitted = 0

  const trim = () => {
    while (tailLength > tailLimit) {
      const excess = tailLength - tailLimit
      const first = tail[0]
      if (first === undefined) return
      const dropped = Math.min(excess, first.length)
      if (dropped === first.length) tail.shift()
      else tail[0] = first.slice(dropped)
      tailLength -= dropped
      omitted += dropped
    }
  }

  return {
    push: (bytes) => {
      const room = headLimit - headLength
      // Copies: a view would keep the whole chunk of the transport alive.
      if (room > 0) {
        const part = bytes.slice(0, room)
        head.push(part)
        headLength += part.length
      }
      if (bytes.length > Math.max(room, 0)) {
        const part = bytes.slice(Math.max(room, 0))
        tail.push(part)
        tailLength += part.length
        trim()
      }
    },
    bytes: () => concatBytes([...head, ...tail]),
    omitted: () => omitted
  }
}
