/** Bytes for tests: arbitrary ones, and arbitrary cuts of a stream. */
import { Arbitrary, Schema } from "effect"

export const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

export const decode = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)

/** Every value a byte can have, once. */
export const ALL_BYTES: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => byte)

export const between = (minimum: number, maximum: number) =>
  Arbitrary.schema(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum, maximum }))))

/** Bytes from a small alphabet, so that what looks like the beginning of a marker comes often. */
export const bytesOf = (alphabet: ReadonlyArray<number>, maxLength: number): Arbitrary.Arbitrary<Uint8Array> =>
  Arbitrary.map(Arbitrary.array(between(0, alphabet.length - 1), { maxLength }), (indices) =>
    Uint8Array.from(indices.map((index) => alphabet[index] ?? 0))
  )

/** Sizes to cut a stream by; used again from the start when the stream is longer. */
export const cuts: Arbitrary.Arbitrary<ReadonlyArray<number>> = Arbitrary.array(between(1, 40), {
  minLength: 1,
  maxLength: 8
})

export const cut = (bytes: Uint8Array, sizes: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length;) {
    const size = sizes[chunks.length % sizes.length] ?? 1
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

export const join = (chunks: Iterable<Uint8Array>): Uint8Array => Uint8Array.from([...chunks].flatMap((c) => [...c]))
