/**
 * A `WebSocketConstructor` whose sockets are played by the test: it opens them, reads what the client sent, and says what the
 * relay says.
 */
import { Context, Effect, Layer, Queue } from "effect"
import { Socket } from "effect/socket"

/** One socket as the relay's side sees it. */
export class ScriptedSocket implements Socket.WebSocketLike {
  readonly url: string
  readonly options: Socket.WebSocketConstructorOptions | undefined
  readonly sent: Queue.Queue<ReadonlyArray<unknown>>
  readyState = 0
  private readonly listeners = new Map<string, Set<(event: Socket.WebSocketEvent) => void>>()

  constructor(
    url: string,
    sent: Queue.Queue<ReadonlyArray<unknown>>,
    options?: Socket.WebSocketConstructorOptions | undefined
  ) {
    this.url = url
    this.options = options
    this.sent = sent
  }

  addEventListener(type: string, listener: (event: Socket.WebSocketEvent) => void): void {
    const listeners = this.listeners.get(type) ?? new Set()
    this.listeners.set(type, listeners.add(listener))
  }

  removeEventListener(type: string, listener: (event: Socket.WebSocketEvent) => void): void {
    this.listeners.get(type)?.delete(listener)
  }

  send(data: string | Uint8Array): void {
    Queue.offerUnsafe(this.sent, JSON.parse(String(data)) as ReadonlyArray<unknown>)
  }

  /** The client closes. */
  close(): void {
    this.readyState = 3
  }

  /** The relay accepts the connection. */
  readonly open = Effect.sync(() => {
    this.readyState = 1
    this.emit("open", {})
  })

  /** The relay says something. */
  say(frame: ReadonlyArray<unknown> | string): Effect.Effect<void> {
    return Effect.sync(() => this.emit("message", { data: typeof frame === "string" ? frame : JSON.stringify(frame) }))
  }

  /** The connection ends on the relay's side. */
  drop(code = 1006): Effect.Effect<void> {
    return Effect.sync(() => {
      this.readyState = 3
      this.emit("close", { code })
    })
  }

  /** The next frame that the client sends. */
  get next(): Effect.Effect<ReadonlyArray<unknown>> {
    return Queue.take(this.sent)
  }

  /** Challenges the client and accepts its answer; returns the answer. */
  get authenticate(): Effect.Effect<{ readonly id: string; readonly tags: ReadonlyArray<ReadonlyArray<string>> }> {
    return Effect.gen({ self: this }, function* () {
      yield* this.open
      yield* this.say(["AUTH", "challenge"])
      const [verb, event] = yield* this.next
      if (verb !== "AUTH") throw new Error(`expected AUTH, got ${String(verb)}`)
      const answer = event as { readonly id: string; readonly tags: ReadonlyArray<ReadonlyArray<string>> }
      yield* this.say(["OK", answer.id, true, ""])
      return answer
    })
  }

  private emit(type: string, event: Socket.WebSocketEvent): void {
    for (const listener of this.listeners.get(type) ?? []) listener(event)
  }
}

/** The sockets that the client dialled, oldest first. */
export class ScriptedSockets extends Context.Service<ScriptedSockets, Queue.Queue<ScriptedSocket>>()(
  "@buzz-orchestra/relay/test/ScriptedSockets"
) {
  static readonly layer: Layer.Layer<ScriptedSockets | Socket.WebSocketConstructor> = Layer.effectContext(
    Effect.gen(function* () {
      const dialled = yield* Queue.unbounded<ScriptedSocket>()
      const context = yield* Effect.context()
      return Context.make(ScriptedSockets, dialled).pipe(
        Context.add(Socket.WebSocketConstructor, (url, options) => {
          const sent = Effect.runSyncWith(context)(Queue.unbounded<ReadonlyArray<unknown>>())
          const socket = new ScriptedSocket(url, sent, options)
          Queue.offerUnsafe(dialled, socket)
          return socket
        })
      )
    })
  )
}

/** The next socket that the client dials. */
export const dialled: Effect.Effect<ScriptedSocket, never, ScriptedSockets> = ScriptedSockets.use((sockets) =>
  Queue.take(sockets)
)
