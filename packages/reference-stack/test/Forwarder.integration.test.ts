// @module-tag thorough
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Net from "node:net"
import * as Programs from "./programs.ts"

/** A server on a free port; the scope owns it and its connections. */
const serve = (options: Net.ServerOpts, onClient: (socket: Net.Socket) => void) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: Net.Server; readonly port: number; readonly sockets: Set<Net.Socket> }>(
      (resume) => {
        const sockets = new Set<Net.Socket>()
        const server = Net.createServer(options, (socket) => {
          sockets.add(socket)
          onClient(socket)
        })
        server.listen(0, "127.0.0.1", () =>
          resume(Effect.succeed({ server, sockets, port: (server.address() as Net.AddressInfo).port }))
        )
      }
    ),
    ({ server, sockets }) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
  )

const forwarder = (target: number) =>
  Effect.gen(function* () {
    const port = yield* Programs.freePort
    const path = yield* Programs.programPath("relay-forwarder")
    const running = yield* Programs.start(path, [`127.0.0.1:${port}`, `127.0.0.1:${target}`])
    yield* running.awaitOutput("forwarding")
    return { port, running }
  })

/** Connects, sends `input`, ends its side, and collects what comes back until the other side ends. */
const exchange = (port: number, input: Buffer) =>
  Effect.callback<Buffer, Error>((resume) => {
    const chunks: Array<Buffer> = []
    const socket = Net.connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () => socket.end(input))
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    socket.on("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
    socket.on("error", (error) => resume(Effect.fail(error)))
    return Effect.sync(() => socket.destroy())
  }).pipe(Effect.timeout("10 seconds"))

layer(Programs.layer, { excludeTestServices: true })("relay-forwarder", (it) => {
  it.effect(
    "says exactly what it forwards once clients can connect",
    () =>
      Effect.gen(function* () {
        const target = yield* serve({}, (socket) => socket.end())
        const { port, running } = yield* forwarder(target.port)
        assert.strictEqual(running.output(), `forwarding 127.0.0.1:${port} -> 127.0.0.1:${target.port}\n`)
      }),
    Programs.SLOW
  )

  it.effect(
    "passes bytes unchanged and keeps a half-closed connection open for the answer",
    () =>
      Effect.gen(function* () {
        // Answers only after the client has ended its side: fails when the end is not passed on, or ends both sides.
        const target = yield* serve({ allowHalfOpen: true }, (socket) => {
          const received: Array<Buffer> = []
          socket.on("data", (chunk: Buffer) => received.push(chunk))
          socket.on("end", () => socket.end(Buffer.concat(received)))
        })
        const { port } = yield* forwarder(target.port)
        const input = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31) % 256))
        assert.isTrue((yield* exchange(port, input)).equals(input))
      }),
    Programs.SLOW
  )

  it.effect(
    "makes the sender wait while the receiver does not read",
    () =>
      Effect.gen(function* () {
        const target = yield* serve({}, (socket) => socket.pause())
        const { port, running } = yield* forwarder(target.port)
        const socket = yield* Effect.acquireRelease(
          Effect.sync(() => Net.connect({ port, host: "127.0.0.1" })),
          (socket) => Effect.sync(() => socket.destroy())
        )
        const total = 64 * 1024 * 1024
        // Resolves when the whole amount was taken, or when nothing moved for a while.
        const taken = yield* Effect.callback<number>((resume) => {
          socket.on("error", () => {})
          socket.write(Buffer.alloc(total))
          let last = -1
          const timer = setInterval(() => {
            const sent = socket.bytesWritten - socket.writableLength
            if (sent >= total || sent === last) resume(Effect.succeed(sent))
            last = sent
          }, 300)
          return Effect.sync(() => clearInterval(timer))
        }).pipe(Effect.timeout("10 seconds"))
        assert.isBelow(taken, total / 2)
        const status = yield* Effect.promise(() =>
          import("node:fs/promises").then((fs) => fs.readFile(`/proc/${running.pid}/status`, "utf8"))
        )
        const residentKb = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])
        assert.isBelow(residentKb, 200_000)
      }),
    Programs.SLOW
  )

  it.effect(
    "closes the client when the target cannot be reached, and serves the next",
    () =>
      Effect.gen(function* () {
        const target = yield* Programs.freePort
        const { port } = yield* forwarder(target)
        for (const input of ["first", "second"]) {
          // Whether the client sees an end or a reset depends on what it had sent by then; it never sees bytes.
          const received = yield* exchange(port, Buffer.from(input)).pipe(Effect.orElseSucceed(() => Buffer.alloc(0)))
          assert.strictEqual(received.length, 0)
        }
      }),
    Programs.SLOW
  )

  it.effect(
    "dies with AddrInUse when the address is taken",
    () =>
      Effect.gen(function* () {
        const other = yield* serve({}, () => {})
        const path = yield* Programs.programPath("relay-forwarder")
        const running = yield* Programs.start(path, [`127.0.0.1:${other.port}`, "127.0.0.1:1"])
        assert.strictEqual(yield* running.exitCode, 1)
        assert.include(yield* running.awaitOutput("Error:"), "kind: AddrInUse")
      }),
    Programs.SLOW
  )

  it.effect(
    "prints its usage and exits 2 unless it gets two arguments",
    () =>
      Effect.gen(function* () {
        const path = yield* Programs.programPath("relay-forwarder")
        const running = yield* Programs.start(path, ["127.0.0.1:1"])
        assert.strictEqual(yield* running.exitCode, 2)
        assert.include(yield* running.awaitOutput("usage:"), "usage: relay-forwarder <listen-addr> <target-addr>")
      }),
    Programs.SLOW
  )
})
