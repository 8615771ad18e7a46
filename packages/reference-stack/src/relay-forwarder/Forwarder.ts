/**
 * A byte bridge over `node:net`: what arrives at one address goes to another and back. A half-closed side stays half
 * closed, a slow side slows the other down, and at most {@link MAX_CLIENTS} clients are served at once.
 */
import { Deferred, Effect, Schema, type Scope } from "effect"
import * as Net from "node:net"
import type { SocketAddress } from "./SocketAddress.ts"

/** Clients beyond this number are closed at once. A trial has a dozen agents with a handful of connections each. */
const MAX_CLIENTS = 512

/** The listening address cannot be had. `code` is the system's, such as `EADDRINUSE`. */
export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", {
  code: Schema.String,
  errno: Schema.Int,
  detail: Schema.String
}) {}

/**
 * Listens, and returns once clients can connect. The scope owns the listener and every connection: closing it destroys
 * them. A target that cannot be reached closes the client that asked for it, and nothing else.
 */
export const forward = (listen: SocketAddress, target: SocketAddress): Effect.Effect<void, ListenFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const open = new Set<Net.Socket>()
    const listening = yield* Deferred.make<void, ListenFailed>()
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const server = Net.createServer({ allowHalfOpen: true }, (client) => bridge(client, target, open))
        server.maxConnections = MAX_CLIENTS
        server.once("error", (cause: NodeJS.ErrnoException) =>
          Deferred.doneUnsafe(listening, Effect.fail(failed(cause)))
        )
        server.listen(listen.port, listen.host, () => Deferred.doneUnsafe(listening, Effect.void))
        return server
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          for (const socket of open) socket.destroy()
        })
    )
    yield* Deferred.await(listening)
  })

const failed = (cause: NodeJS.ErrnoException): ListenFailed =>
  new ListenFailed({ code: cause.code ?? "UNKNOWN", errno: Math.abs(cause.errno ?? 0), detail: cause.message })

const bridge = (client: Net.Socket, target: SocketAddress, open: Set<Net.Socket>): void => {
  const upstream = Net.connect({ port: target.port, host: target.host, allowHalfOpen: true })
  for (const [side, other] of [
    [client, upstream],
    [upstream, client]
  ] as const) {
    open.add(side)
    side.setNoDelay(true)
    // `pipe` waits for a slow reader, and ends only the other side's writing when this one's is over.
    side.pipe(other)
    side.on("error", () => other.destroy())
    side.once("close", () => {
      open.delete(side)
      // After a reset there is no end to pass on; the other side would wait for ever.
      if (side.errored !== null || !side.readableEnded) other.destroy()
    })
  }
}
