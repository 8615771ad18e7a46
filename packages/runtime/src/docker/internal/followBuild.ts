/**
 * The messages of an image build.
 */
import { Effect, Option, Schema, Stream } from "effect"
import { type EngineError, EngineRefused } from "../EngineError.ts"

/** One line of the response to `POST /build`. */
const BuildMessage = Schema.fromJsonString(
  Schema.Struct({ stream: Schema.optionalKey(Schema.String), error: Schema.optionalKey(Schema.String) })
)

/** Reads a build's messages to their end; an `error` among them is the build's failure. */
export const followBuild = (
  response: AsyncIterable<Uint8Array>,
  action: string,
  onProgress: (line: string) => Effect.Effect<void>
): Effect.Effect<void, EngineError> => {
  const failed = (detail: string) => new EngineRefused({ action, status: 500, detail: detail.trim() })
  return lines(response, (cause) => failed(String(cause))).pipe(
    Stream.runForEach((line) => {
      // A message of another shape says nothing that anybody waits for.
      const { error, stream = "" } = Option.getOrElse(Schema.decodeOption(BuildMessage)(line), () => ({}) as Message)
      if (error !== undefined) return Effect.fail(failed(error))
      return stream.trim() === "" ? Effect.void : onProgress(stream.trimEnd())
    })
  )
}

type Message = typeof BuildMessage.Type

/** Lines of a streamed answer of the engine. */
export const lines = <E>(
  response: AsyncIterable<Uint8Array>,
  onError: (cause: unknown) => E
): Stream.Stream<string, E> =>
  Stream.fromAsyncIterable(response, onError).pipe(
    // Buffers of a response may share memory that is used again.
    Stream.map((bytes) => Uint8Array.from(bytes)),
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filter((line) => line.trim() !== "")
  )
