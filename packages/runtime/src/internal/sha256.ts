/**
 * The digest of a stream of bytes; programs of a stack are too large to pass through memory whole.
 */
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { Effect, Stream } from "effect"

/** sha256, 64 lower-case hex digits. */
export const sha256 = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Effect.Effect<string, E, R> =>
  Effect.suspend(() => {
    const hash = Sha256.incremental()
    return Stream.runForEach(bytes, (part) => Effect.sync(() => hash.update(part))).pipe(
      Effect.map(() => hash.digest())
    )
  })

/** sha256 of a text's UTF-8, 64 lower-case hex digits. */
export const sha256Text = (text: string): string => Sha256.sha256(text)
