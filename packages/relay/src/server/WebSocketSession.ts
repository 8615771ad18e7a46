/**
 * One WebSocket from upgrade to end: frames in, and the way out for what the hub sends. What a frame means is decided in
 * `Session`.
 */
import { type Array, Effect, type Scope } from "effect"
import type { HttpServerError, HttpServerRequest } from "effect/http"
import { Socket } from "effect/socket"
import type { Transport } from "./Dispatch.ts"
import { type FaultPlan, Faults, NO_FAULTS } from "./Faults.ts"
import * as RawSocket from "./RawSocket.ts"
import type { RelayHub } from "./RelayHub.ts"

/** Bytes of one incoming frame; a longer one ends the connection without a word. */
export const MAX_FRAME_BYTES = 65_536

/**
 * Serves the connection behind an upgrade request and returns when it is over, however it ended; `false` when there is no
 * place for it. The scope owns it.
 */
export const serve = (
  request: HttpServerRequest.HttpServerRequest,
  hub: RelayHub,
  urls: ReadonlyArray<string>
): Effect.Effect<boolean, HttpServerError.HttpServerError, Scope.Scope> =>
  Effect.flatMap(hub.admit, (isAdmitted) =>
    isAdmitted
      ? Effect.flatMap(open(request, hub, urls), ({ connection, reader, transport }) => {
          const take = (data: string | Uint8Array): Effect.Effect<void, typeof OVERSIZED> =>
            byteLength(data) > MAX_FRAME_BYTES
              ? Effect.fail(OVERSIZED)
              : connection.receive(typeof data === "string" ? data : new TextDecoder().decode(data))
          return reader.pull.pipe(
            Effect.flatMap((batch) => Effect.forEach(batch, take, { discard: true })),
            Effect.forever,
            // Clients leave as they like; a broken socket is not news.
            Effect.catch(() => transport.cut)
          )
        }).pipe(
          Effect.catchTag("SocketError", () => Effect.void),
          Effect.as(true)
        )
      : Effect.succeed(false)
  )

const OVERSIZED = "oversized"

/** Whatever is held here is held by every idle connection. */
const open = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  hub: RelayHub,
  urls: ReadonlyArray<string>
) {
  const faults = yield* Faults
  const socket = yield* request.upgrade
  const reader = yield* socket.reader
  const transport = new SocketTransport(yield* socket.writer, RawSocket.of(request), faults)
  const connection = yield* hub.connect(transport, urls)
  if (faults !== NO_FAULTS) yield* Effect.forkScoped(Effect.andThen(faults.connectionCut, transport.cut))
  return { connection, reader, transport }
})

class SocketTransport implements Transport {
  private readonly writer: Socket.Writer
  private readonly raw: RawSocket.RawSocket | undefined
  private readonly faults: FaultPlan

  constructor(writer: Socket.Writer, raw: RawSocket.RawSocket | undefined, faults: FaultPlan) {
    this.writer = writer
    this.raw = raw
    this.faults = faults
  }

  write(frames: Array.NonEmptyReadonlyArray<string>): Effect.Effect<void> {
    const { faults, raw, writer } = this
    // Frames of one turn leave in one call of the operating system, which costs more than all else about them.
    const written = Effect.suspend(() => {
      raw?.cork()
      return Effect.ensuring(
        Effect.ignore(writer.writeAll(frames)),
        Effect.sync(() => raw?.uncork())
      )
    })
    return faults === NO_FAULTS ? written : Effect.andThen(faults.maySend, written)
  }

  unsentBytes(): number {
    return this.raw?.unsentBytes ?? 0
  }

  receivedBytes(): number | undefined {
    return this.raw?.receivedBytes
  }

  ping(): void {
    this.raw?.ping()
  }

  get cut(): Effect.Effect<void> {
    const { raw } = this
    return raw === undefined ? this.close(1008, "the relay ends this connection") : Effect.sync(() => raw.cut())
  }

  get farewell(): Effect.Effect<void> {
    return this.close(1001, "the relay is shutting down")
  }

  private close(code: number, text: string): Effect.Effect<void> {
    return Effect.ignore(this.writer.write(new Socket.CloseEvent(code, text)))
  }
}

const byteLength = (data: string | Uint8Array): number => {
  if (typeof data !== "string") return data.length
  // A UTF-16 unit is at most three bytes of UTF-8, so short texts need no counting.
  return data.length * 3 <= MAX_FRAME_BYTES ? data.length : new TextEncoder().encode(data).length
}
