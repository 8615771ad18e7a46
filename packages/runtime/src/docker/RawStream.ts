/**
 * The engine's multiplexed stream (`application/vnd.docker.raw-stream`): frames of `[type, 0, 0, 0, length as big-endian u32]`
 * and payload, where type 1 is stdout and 2 is stderr. A frame or its header may be split anywhere over chunks. Pure.
 */

/** A piece of one of the two outputs; a frame may come in several. */
export interface OutputPiece {
  readonly output: "stdout" | "stderr"
  readonly bytes: Uint8Array
}

/** Where the decoder stands: in a header of which some bytes are known, or in a payload of which some are still to come. */
export interface RawStreamState {
  readonly header: ReadonlyArray<number>
  readonly output: OutputPiece["output"]
  readonly left: number
}

/** Before the first byte. */
export const initial: RawStreamState = { header: [], output: "stdout", left: 0 }

const HEADER_BYTES = 8

/** Decodes the next chunk; payload is passed on as it comes, without waiting for the end of its frame. */
export const feed = (
  state: RawStreamState,
  chunk: Uint8Array
): readonly [RawStreamState, ReadonlyArray<OutputPiece>] => {
  const pieces: Array<OutputPiece> = []
  let header = [...state.header]
  let { left, output } = state
  let at = 0
  while (at < chunk.length) {
    if (left > 0) {
      const end = Math.min(at + left, chunk.length)
      pieces.push({ output, bytes: chunk.subarray(at, end) })
      left -= end - at
      at = end
      continue
    }
    header.push(chunk[at++] as number)
    if (header.length < HEADER_BYTES) continue
    output = header[0] === 2 ? "stderr" : "stdout"
    left = new DataView(Uint8Array.from(header).buffer).getUint32(4)
    header = []
  }
  return [{ header, output, left }, pieces]
}
