/**
 * What the tests over real sockets share: an embedded relay on a free port, the platform's services, and a TCP bridge that
 * can be taken down and put up again in front of a relay whose memory must stay.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeWS from "@effect/platform-node/NodeWS"
import { Effect, Layer, Scope, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { randomInt } from "node:crypto"
import { createServer as createHttpServer } from "node:http"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import * as SchnorrWasm from "../src/SchnorrWasm.ts"
import { EmbeddedRelay, type EmbeddedRelayOptions } from "../src/server/EmbeddedRelay.ts"
import { RelayFaults } from "../src/testing/RelayFaults.ts"

/** Keys, randomness, HTTP and WebSocket clients of the platform. */
export const platform = Layer.mergeAll(
  SchnorrWasm.layerStrict,
  SecureRandom.layerWebCrypto,
  NodeHttpClient.layerUndici,
  NodeWS.layerWebSocketConstructor
)

/** An embedded relay on a free port, with its faults. Needs `platform`. */
export const relayWith = (options: EmbeddedRelayOptions) =>
  EmbeddedRelay.layer(options).pipe(
    Layer.provide(NodeHttpServer.layer(createHttpServer, { port: 0, host: "127.0.0.1" })),
    Layer.provideMerge(RelayFaults.layer)
  )

/** An open relay with the defaults. */
export const relay = relayWith({})

/** A byte bridge to a relay. Taking it down cuts its connections and refuses new ones; the relay keeps its memory. */
export interface Bridge {
  readonly url: string
  readonly down: Effect.Effect<void>
  readonly up: Effect.Effect<void>
}

/** A free port for a bridge, taken and given back: none that the system gives to others, who could have it while the bridge is down. */
export const freePort: Effect.Effect<number> = Effect.tryPromise(async () => {
  const server = createServer()
  const port = await listen(server, randomInt(20_000, 30_000))
  await new Promise((resolve) => server.close(resolve))
  return port
}).pipe(Effect.retry({ times: 20 }), Effect.orDie)

/** Listens on `port` until the scope ends. */
export const bridge = (port: number, relayUrl: string): Effect.Effect<Bridge, never, Scope.Scope> => {
  const target = Number(new URL(relayUrl).port)
  const sockets = new Set<Socket>()
  let server: Server | undefined
  const up = Effect.promise(async () => {
    server = createServer((client) => {
      const upstream = connect(target, "127.0.0.1")
      for (const socket of [client, upstream]) {
        sockets.add(socket)
        socket.on("error", () => {})
        socket.on("close", () => {
          sockets.delete(socket)
          client.destroy()
          upstream.destroy()
        })
      }
      client.pipe(upstream)
      upstream.pipe(client)
    })
    await listenAgain(server, port)
  })
  const down = Effect.promise(async () => {
    const closing = server
    server = undefined
    for (const socket of sockets) socket.destroy()
    if (closing !== undefined) await new Promise((resolve) => closing.close(resolve))
  })
  return Effect.as(
    Effect.acquireRelease(up, () => down),
    { url: `ws://127.0.0.1:${port}`, up, down }
  )
}

/** The first `count` items of a stream, within a bound that only a defect exceeds. */
export const takeN = <A, E, R>(stream: Stream.Stream<A, E, R>, count: number) =>
  bounded(Stream.runCollect(Stream.take(stream, count)))

/** Fails the test when the effect takes longer than 10 seconds. */
export const bounded = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.timeout(effect, "10 seconds")

/**
 * A program that any test of this process is starting has its sockets as well, for the moment until it is that program, so a port
 * that was just given up may still be taken.
 */
const listenAgain = async (server: Server, port: number): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return void (await listen(server, port))
    } catch (error) {
      if (attempt === 100 || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port))
  })
