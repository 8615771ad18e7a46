/**
 * A relay on this machine's loopback, offered at an address where containers see this machine. Needs `node:net`: a byte bridge
 * carries whatever is sent, and the ends of sending.
 */
import { type BridgeAddress, join } from "@buzz-orchestra/runtime/docker/NetworkBridge"
import { Effect, type Scope } from "effect"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { CommandError, RelayNotServed } from "./CommandError.ts"

/** Listens at a free port of `host` and of no other address; returns the port. The scope ends it, with every connection. */
export const open = Effect.fn("GatewayListener.open")(function* (options: {
  /** As typed. */
  readonly command: string
  readonly host: string
  readonly target: BridgeAddress
}): Effect.fn.Return<number, CommandError, Scope.Scope> {
  const connections = new Set<Socket>()
  const server = yield* Effect.acquireRelease(listen(options), (listening) =>
    Effect.sync(() => {
      listening.close()
      for (const connection of connections) connection.destroy()
    })
  )
  server.on("connection", (client) => join(client, options.target, connections))
  return (server.address() as AddressInfo).port
})

const listen = ({ command, host }: { readonly command: string; readonly host: string }) =>
  Effect.callback<Server, CommandError>((resume) => {
    const server = createServer({ allowHalfOpen: true })
    server.once("error", ({ message }) => {
      const reason = new RelayNotServed({ host, port: 0, detail: message })
      resume(Effect.fail(new CommandError({ command, reason })))
    })
    server.listen({ host, port: 0 }, () => resume(Effect.succeed(server)))
    return Effect.sync(() => server.close())
  })
