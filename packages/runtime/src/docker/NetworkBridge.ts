/**
 * Needs `node:child_process` and `node:net`, because a listening socket is handed from one process to another: a listener in
 * the network of a container whose connections end in this machine's own. Works without any network of the container's, and
 * nothing of it runs in the container or outlives this process.
 *
 * A socket belongs to the network in which it was made, whoever holds it. So a helper enters the container's network by
 * `nsenter`, listens there, hands the socket over and ends; this process accepts, and dials from where it is.
 */
import { Effect, FileSystem, Option, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { connect, type Server, type Socket } from "node:net"
import { CommandNotRun, EnvironmentError } from "../EnvironmentError.ts"

/** A TCP address. */
export interface BridgeAddress {
  readonly host: string
  readonly port: number
}

/** A container's network, by a process in it, and the ends of the bridge. */
export interface NetworkBridgeOptions {
  /** Names the container in errors. */
  readonly environment: string
  /** A process in the container, as this machine sees it. */
  readonly pid: number
  /** Where programs in the container connect to. */
  readonly listen: BridgeAddress
  /** Where this process connects to for each of them. */
  readonly target: BridgeAddress
}

/** Reads `host:port`, with an IPv6 address in brackets; `undefined` for anything else. */
export const parseAddress = (text: string): BridgeAddress | undefined => {
  const [, v6, host, port] = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/i.exec(text) ?? []
  const name = v6 ?? host
  return name === undefined || Number(port) > 65_535 ? undefined : { host: name, port: Number(port) }
}

/**
 * Whether a container's network can be entered from here: `pid` is the container's process also for this process, which may look
 * at its network, and that is not this process's own.
 */
export const canBridge = Effect.fn("NetworkBridge.canBridge")(function* (
  containerId: string,
  pid: number
): Effect.fn.Return<boolean, never, FileSystem.FileSystem> {
  if (pid <= 0) return false
  const fs = yield* FileSystem.FileSystem
  const cgroup = yield* Effect.option(fs.readFileString(`/proc/${pid}/cgroup`))
  // An engine of another machine or pid namespace numbers its processes in its own way.
  if (Option.isNone(cgroup) || !cgroup.value.includes(containerId)) return false
  const [theirs, ours] = [
    yield* Effect.option(fs.readLink(`/proc/${pid}/ns/net`)),
    yield* Effect.option(fs.readLink("/proc/self/ns/net"))
  ]
  return Option.isSome(theirs) && Option.isSome(ours) && theirs.value !== ours.value
})

/** Returns once it listens. The scope ends it, with every connection. A target that does not answer closes the connection. */
export const openBridge = Effect.fn("NetworkBridge.open")(function* (
  options: NetworkBridgeOptions
): Effect.fn.Return<void, EnvironmentError, Scope.Scope> {
  const connections = new Set<Socket>()
  yield* Effect.acquireRelease(listenInside(options), (server) =>
    Effect.sync(() => {
      server.close()
      for (const connection of connections) connection.destroy()
    })
  ).pipe(Effect.map((server) => server.on("connection", (client) => join(client, options.target, connections))))
})

/**
 * Connects `client` to `target`, from this process: each end's bytes go to the other, and its end of sending, too. Both are among
 * `connections` while they are open. A client must have been accepted half-open.
 */
export const join = (client: Socket, target: BridgeAddress, connections: Set<Socket>): void => {
  const upstream = connect({ ...target, allowHalfOpen: true })
  for (const [socket, other] of [
    [client, upstream],
    [upstream, client]
  ] as const) {
    connections.add(socket)
    socket.setNoDelay(true)
    socket.on("error", () => other.destroy())
    socket.on("close", () => connections.delete(socket))
    socket.pipe(other)
  }
}

/** Runs in the container's network, as a program of its own: it sees nothing of this one but its arguments. */
const HELPER = `const { createServer } = require("node:net")
const [host, port] = process.argv.slice(1)
const server = createServer()
const say = (message, handle) => process.send(message, handle, () => process.exit())
server.on("error", (error) => say({ error: error.message }))
server.listen({ host, port: Number(port) }, () => say({ listening: true }, server))`

const listenInside = ({ environment, listen, pid }: NetworkBridgeOptions): Effect.Effect<Server, EnvironmentError> =>
  Effect.callback<Server, EnvironmentError>((resume) => {
    const failed = (detail: string) => {
      const action = `listen at ${listen.host}:${listen.port} for programs in it`
      const reason = new CommandNotRun({ environment, action, detail })
      resume(Effect.fail(new EnvironmentError({ operation: "EnvironmentService.bridge", reason })))
    }
    const helper = startHelper(pid, listen)
    let complaint = ""
    helper.stderr?.on("data", (bytes: Buffer) => (complaint += bytes.toString()))
    helper.on("error", (error) => failed(error.message))
    helper.on("exit", () => failed(complaint.trim() || "its helper ended"))
    helper.on("message", (message: { readonly error?: string }, handle) => {
      if (message.error !== undefined) return failed(message.error)
      const server = handle as Server & { allowHalfOpen: boolean }
      server.allowHalfOpen = true
      resume(Effect.succeed(server))
    })
    return Effect.sync(() => helper.kill("SIGKILL"))
  })

const startHelper = (pid: number, { host, port }: BridgeAddress): ChildProcess =>
  spawn("nsenter", ["-t", String(pid), "-n", process.execPath, "-e", HELPER, host, String(port)], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: { PATH: process.env["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin" }
  })
