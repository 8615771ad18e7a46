/**
 * One WebSocket from upgrade to end: frames in, frames out, and the several ways in which it can end. What a frame
 * means is decided in `Session`.
 */
import { Array, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Socket } from "effect/socket"
import { type FaultPlan, Faults } from "./Faults.ts"
import * as RawSocket from "./RawSocket.ts"
import type { HubConnection, RelayHub } from "./RelayHub.ts"

/** Bytes of one incoming frame; a longer one ends the connection without a word. */
export const MAX_FRAME_BYTES = 65_536

/** Unsent bytes of one connection before nothing more is written to it and its outbox begins to fill. */
export const MAX_UNSENT_BYTES = 1_048_576

/** How often a connection that does not take its bytes is looked at again. */
const SLOW_READER_INTERVAL = "20 millis"

/** What a client is given to answer the relay's farewell. */
const FAREWELL_TIMEOUT = "200 millis"

/** Serves the connection behind an upgrade request and returns when it is over, however it ended. */
export const serve = Effect.fnUntraced(
  function* (request: HttpServerRequest.HttpServerRequest, hub: RelayHub) {
    const faults = yield* Faults
    const raw = RawSocket.of(request)
    const socket = yield* request.upgrade
    const reader = yield* socket.reader
    const writer = yield* socket.writer
    const connection = yield* hub.connect
    const end = yield* Effect.raceAllFirst([
      receive(connection, reader),
      send(connection, writer, raw, faults),
      connection.mustEnd,
      Effect.as(faults.connectionCut, "cut" as const)
    ])
    if (end === "shutdown") yield* sayFarewell(reader, writer)
    raw.cut()
  },
  Effect.scoped,
  // Clients leave as they like; a broken socket is not news.
  Effect.catchTag("SocketError", () => Effect.void)
)

/** Ends with `oversized` at the first frame that is too long. */
const receive = Effect.fnUntraced(function* (connection: HubConnection, reader: Socket.Reader) {
  while (true) {
    for (const data of yield* reader.pull) {
      if (byteLength(data) > MAX_FRAME_BYTES) return "oversized" as const
      yield* connection.receive(typeof data === "string" ? data : new TextDecoder().decode(data))
      yield* connection.outbox.hasRoom
    }
  }
})

const send = Effect.fnUntraced(function* (
  connection: HubConnection,
  writer: Socket.Writer,
  raw: RawSocket.RawSocket,
  faults: FaultPlan
) {
  while (true) {
    // The WebSocket library takes any amount into memory, so the bound is kept here, before frames leave the outbox.
    while (raw.unsentBytes() > MAX_UNSENT_BYTES) yield* Effect.sleep(SLOW_READER_INTERVAL)
    const frames = yield* connection.outbox.take
    yield* faults.maySend
    if (Array.isReadonlyArrayNonEmpty(frames)) yield* writer.writeAll(frames)
  }
})

/** The closing handshake, with the code for a server that goes away. */
const sayFarewell = (reader: Socket.Reader, writer: Socket.Writer) =>
  writer.write(new Socket.CloseEvent(1001, "the relay is shutting down")).pipe(
    Effect.andThen(Effect.forever(reader.pull)),
    Effect.timeoutOption(FAREWELL_TIMEOUT),
    Effect.catchTag("SocketError", () => Effect.void)
  )

const byteLength = (data: string | Uint8Array): number => {
  if (typeof data !== "string") return data.length
  // A UTF-16 unit is at most three bytes of UTF-8, so short texts need no counting.
  return data.length * 3 <= MAX_FRAME_BYTES ? data.length : new TextEncoder().encode(data).length
}
