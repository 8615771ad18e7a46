/**
 * One WebSocket from upgrade to end: frames in, and the way out for what the hub sends. What a frame means is decided in
 * `Session`.
 */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Socket } from "effect/socket"
import type { Transport } from "./Dispatch.ts"
import { type FaultPlan, Faults, NO_FAULTS } from "./Faults.ts"
import * as RawSocket from "./RawSocket.ts"
import type { HubConnection, RelayHub } from "./RelayHub.ts"

/** Bytes of one incoming frame; a longer one ends the connection without a word. */
export const MAX_FRAME_BYTES = 65_536

/** Serves the connection behind an upgrade request and returns when it is over, however it ended. */
export const serve = Effect.fnUntraced(
  function* (request: HttpServerRequest.HttpServerRequest, hub: RelayHub, urls: ReadonlyArray<string>) {
    const faults = yield* Faults
    const raw = RawSocket.of(request)
    const socket = yield* request.upgrade
    const reader = yield* socket.reader
    const transport = transportOf(yield* socket.writer, raw, faults)
    const connection = yield* hub.connect(transport, urls)
    if (faults !== NO_FAULTS) yield* Effect.forkScoped(Effect.andThen(faults.connectionCut, transport.cut))
    yield* receive(connection, reader)
    yield* transport.cut
  },
  Effect.scoped,
  // Clients leave as they like; a broken socket is not news.
  Effect.catchTag("SocketError", () => Effect.void)
)

/** Ends at the first frame that is too long. */
const receive = Effect.fnUntraced(function* (connection: HubConnection, reader: Socket.Reader) {
  while (true) {
    for (const data of yield* reader.pull) {
      if (byteLength(data) > MAX_FRAME_BYTES) return
      yield* connection.receive(typeof data === "string" ? data : new TextDecoder().decode(data))
      yield* connection.hasRoom
    }
  }
})

const transportOf = (writer: Socket.Writer, raw: RawSocket.RawSocket | undefined, faults: FaultPlan): Transport => {
  const close = (code: number, text: string) => Effect.ignore(writer.write(new Socket.CloseEvent(code, text)))
  return {
    write: (frames) =>
      faults === NO_FAULTS
        ? Effect.ignore(writer.writeAll(frames))
        : Effect.andThen(faults.maySend, Effect.ignore(writer.writeAll(frames))),
    unsentBytes: raw?.unsentBytes ?? (() => 0),
    receivedBytes: raw?.receivedBytes ?? (() => undefined),
    ping: raw?.ping ?? (() => {}),
    cut: raw === undefined ? close(1008, "the relay ends this connection") : Effect.sync(raw.cut),
    farewell: close(1001, "the relay is shutting down")
  }
}

const byteLength = (data: string | Uint8Array): number => {
  if (typeof data !== "string") return data.length
  // A UTF-16 unit is at most three bytes of UTF-8, so short texts need no counting.
  return data.length * 3 <= MAX_FRAME_BYTES ? data.length : new TextEncoder().encode(data).length
}
