/**
 * Bytes without secrets, whole lines at a time, so that memory does not grow with what they are of.
 */
import { Stream } from "effect"
import * as Redaction from "../Redaction.ts"

/** `onSecret` is called whenever something is taken out. */
export const redactedStream = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  redactor: Redaction.Redactor,
  onSecret?: () => void
): Stream.Stream<Uint8Array, E, R> => {
  const clean = (part: Uint8Array) => {
    const shown = Redaction.applyBytes(redactor, part)
    if (shown !== part) onSecret?.()
    return shown
  }
  return bytes.pipe(
    Stream.mapAccum(
      () => Redaction.NOTHING_HELD,
      (held, piece) => {
        const [kept, whole] = Redaction.complete(redactor, held, piece)
        return [kept, whole.map(clean)] as const
      },
      { onHalt: (held) => [clean(held)] }
    ),
    Stream.filter((part) => part.length > 0)
  )
}
