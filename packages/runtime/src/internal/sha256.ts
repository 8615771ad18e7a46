/** Needs `node:crypto`: Web Crypto cannot hash a stream, and a stack's programs should not pass through memory whole. */
import { createHash } from "node:crypto"
import { Effect, type PlatformError, Stream } from "effect"

/** sha256 of a stream of bytes, 64 lower-case hex digits. */
export const sha256 = <R>(
  bytes: Stream.Stream<Uint8Array, PlatformError.PlatformError, R>
): Effect.Effect<string, PlatformError.PlatformError, R> =>
  Effect.suspend(() => {
    const hash = createHash("sha256")
    return Stream.runForEach(bytes, (chunk) => Effect.sync(() => void hash.update(chunk))).pipe(
      Effect.map(() => hash.digest("hex"))
    )
  })
