/**
 * How much of a command's output the model sees. Pure: bytes come in as they arrive, a text comes out.
 */

/** Output over this many bytes, or over {@link MAX_LINES}, is shown as its tail only. */
const MAX_BYTES = 50 * 1024
/** Output over this many lines is shown as its tail only. */
const MAX_LINES = 2000
/** Bytes of the tail. */
const TAIL_BYTES = 8 * 1024
/** An artifact keeps this much of the beginning. */
const ARTIFACT_BYTES = 10 * 1024 * 1024

/** What was captured of one stream so far; grows by {@link append} alone. */
export interface Captured {
  /** The first {@link ARTIFACT_BYTES}. */
  readonly head: ReadonlyArray<Uint8Array>
  /** The last chunks, together at least {@link TAIL_BYTES} once there was as much. */
  readonly tail: ReadonlyArray<Uint8Array>
  readonly headBytes: number
  readonly totalBytes: number
  readonly newlines: number
}

/** Nothing yet. */
export const empty: Captured = { head: [], tail: [], headBytes: 0, totalBytes: 0, newlines: 0 }

/** Takes in one chunk. */
export const append = (captured: Captured, chunk: Uint8Array): Captured => {
  const room = ARTIFACT_BYTES - captured.headBytes
  const kept = chunk.subarray(0, Math.max(0, room))
  let newlines = captured.newlines
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) newlines++
  return {
    head: kept.length === 0 ? captured.head : [...captured.head, kept],
    tail: lastBytes([...captured.tail, chunk]),
    headBytes: captured.headBytes + kept.length,
    totalBytes: captured.totalBytes + chunk.length,
    newlines
  }
}

/** Whether the model gets the tail only. */
export const isTruncated = (captured: Captured): boolean =>
  captured.totalBytes > MAX_BYTES || captured.newlines > MAX_LINES

/** The bytes for an artifact: everything, or the beginning of very much. */
export const artifact = (captured: Captured): Uint8Array => concat(captured.head)

/** What the model sees. `artifactPath` names the file with the rest, when there is one. */
export const shown = (captured: Captured, artifactPath: string | undefined): string => {
  if (!isTruncated(captured)) return decode(concat(captured.head))
  const all = concat(captured.tail)
  const tail = all.subarray(Math.max(0, all.length - TAIL_BYTES))
  const where = artifactPath === undefined ? "" : `; full output: ${artifactPath}`
  return `[truncated: ${captured.totalBytes} bytes, ${captured.newlines} lines, the last ${tail.length} bytes follow${where}]\n${decode(fromCharacterStart(tail))}`
}

const NEWLINE = 0x0a

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

const concat = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

const lastBytes = (chunks: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> => {
  let size = 0
  for (let index = chunks.length - 1; index >= 0; index--) {
    size += chunks[index]?.length ?? 0
    if (size >= TAIL_BYTES) return chunks.slice(index)
  }
  return chunks
}

/** A cut through a multi-byte character leaves continuation bytes at the front. */
const fromCharacterStart = (bytes: Uint8Array): Uint8Array => {
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return bytes.subarray(start)
}
