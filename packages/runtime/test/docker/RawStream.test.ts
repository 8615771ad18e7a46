import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as RawStream from "../../src/docker/RawStream.ts"

const Frame = Schema.Struct({
  output: Schema.Literals(["stdout", "stderr"]),
  bytes: Schema.Array(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: 255 }))))
})
const Size = Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: 17 })))

/** As the engine writes it: one header and payload per frame. */
const encode = (frames: ReadonlyArray<typeof Frame.Type>): Uint8Array =>
  Uint8Array.from(
    frames.flatMap(({ bytes, output }) => {
      const { length } = bytes
      const size = [length >>> 24, (length >>> 16) & 255, (length >>> 8) & 255, length & 255]
      return [output === "stdout" ? 1 : 2, 0, 0, 0, ...size, ...bytes]
    })
  )

const decode = (chunks: ReadonlyArray<Uint8Array>) => {
  let state = RawStream.initial
  const outputs = { stdout: [] as Array<number>, stderr: [] as Array<number> }
  for (const chunk of chunks) {
    const [next, pieces] = RawStream.feed(state, chunk)
    state = next
    for (const { bytes, output } of pieces) outputs[output].push(...bytes)
  }
  return { outputs, state }
}

describe("RawStream", () => {
  it.prop(
    "gives back each output whole, however the stream is cut",
    { frames: Schema.Array(Frame), sizes: Schema.NonEmptyArray(Size) },
    ({ frames, sizes }) => {
      const stream = encode(frames)
      const chunks: Array<Uint8Array> = []
      for (let at = 0, i = 0; at < stream.length; i++) {
        const size = sizes[i % sizes.length] as number
        chunks.push(stream.subarray(at, at + size))
        at += size
      }
      const { outputs, state } = decode(chunks)
      for (const output of ["stdout", "stderr"] as const) {
        const sent = frames.filter((frame) => frame.output === output).flatMap(({ bytes }) => bytes)
        assert.deepStrictEqual(outputs[output], sent)
      }
      assert.deepStrictEqual([state.header, state.left], [[], 0])
    }
  )

  it("passes payload on before its frame is complete", () => {
    const [, pieces] = RawStream.feed(RawStream.initial, Uint8Array.from([2, 0, 0, 0, 0, 0, 0, 9, 65, 66]))
    assert.deepStrictEqual(pieces, [{ output: "stderr", bytes: Uint8Array.from([65, 66]) }])
  })
})
