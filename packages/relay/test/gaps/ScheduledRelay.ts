/**
 * A relay that does what a schedule says, behind an `HttpClient` and a `WebSocketConstructor`: it stores, pages, delivers or
 * not, goes silent, goes away. No sockets, no real time, a toy curve.
 */
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { Socket } from "effect/socket"
import { type Filter, matches, newestFirst } from "../../src/Filter.ts"
import type { NostrEvent } from "../../src/NostrEvent.ts"
import type { Fate } from "./Schedule.ts"

/** Rows of one answer: few, so that a history has several pages. */
const CLAMP = 6

/** One connection as the relay sees it. */
class Connection implements Socket.WebSocketLike {
  readyState: number
  isSilent = false
  readonly subscriptions = new Map<string, ReadonlyArray<Filter>>()
  private readonly relay: ScheduledRelay
  private readonly listeners = new Map<string, Set<(event: Socket.WebSocketEvent) => void>>()

  constructor(relay: ScheduledRelay) {
    this.relay = relay
    this.readyState = relay.isUp ? 1 : 3
  }

  addEventListener(type: string, listener: (event: Socket.WebSocketEvent) => void): void {
    this.listeners.set(type, (this.listeners.get(type) ?? new Set()).add(listener))
    if (type === "message" && this.readyState === 1) this.say(["AUTH", "challenge"])
  }

  removeEventListener(type: string, listener: (event: Socket.WebSocketEvent) => void): void {
    this.listeners.get(type)?.delete(listener)
  }

  send(data: string | Uint8Array): void {
    if (!this.isSilent) this.relay.receive(this, JSON.parse(String(data)))
  }

  close(): void {
    this.readyState = 3
    this.relay.connections.delete(this)
  }

  say(frame: ReadonlyArray<unknown>): void {
    if (!this.isSilent && this.readyState === 1) this.emit("message", { data: JSON.stringify(frame) })
  }

  cut(): void {
    this.close()
    this.emit("close", { code: 1006 })
  }

  private emit(type: string, event: Socket.WebSocketEvent): void {
    for (const listener of this.listeners.get(type) ?? []) listener(event)
  }
}

/** The relay and every knob a schedule turns. */
export class ScheduledRelay {
  isUp = true
  readonly stored: Array<NostrEvent> = []
  readonly connections = new Set<Connection>()
  /** Answers that the next requests get instead. */
  readonly troubles: Array<number> = []
  pageMillis = 0
  skipsEose = 0
  refusesAuth = 0
  isBusy = false
  private late: Array<NostrEvent> = []

  /** Takes an event for good; only its way to the subscribers depends on its fate. */
  publish(event: NostrEvent, fate: Fate): void {
    this.stored.push(event)
    if (fate === "late") this.late.push(event)
    else for (let n = COPIES[fate]; n > 0; n--) this.deliver(event)
  }

  /** Sends to whoever subscribed what is not stored, whether it matches or not. */
  forge(event: NostrEvent): void {
    for (const connection of this.connections) {
      for (const id of connection.subscriptions.keys()) connection.say(["EVENT", id, event])
    }
  }

  /** What was held back arrives, the newest first. */
  flush(): void {
    for (const event of this.late.toReversed()) this.deliver(event)
    this.late = []
  }

  cut(): void {
    for (const connection of this.connections) connection.cut()
  }

  goSilent(): void {
    for (const connection of this.connections) connection.isSilent = true
  }

  closeSubscriptions(text: string): void {
    for (const connection of this.connections) {
      for (const id of connection.subscriptions.keys()) connection.say(["CLOSED", id, text])
      connection.subscriptions.clear()
    }
  }

  /** From now on everything works. */
  heal(): void {
    Object.assign(this, { isUp: true, pageMillis: 0, skipsEose: 0, refusesAuth: 0, isBusy: false })
    this.troubles.length = 0
    this.flush()
  }

  receive(connection: Connection, frame: readonly [string, never, ...ReadonlyArray<Filter>]): void {
    const [verb, first, ...filters] = frame
    if (verb === "AUTH") {
      const isRefused = this.refusesAuth > 0
      if (isRefused) this.refusesAuth -= 1
      const { id } = first as { readonly id: string }
      return connection.say(["OK", id, !isRefused, isRefused ? "auth-required: verification failed" : ""])
    }
    if (verb === "CLOSE") connection.subscriptions.delete(first)
    if (verb !== "REQ") return
    if (this.isBusy) {
      this.isBusy = false
      return connection.say(["NOTICE", "rate-limited: too many concurrent requests"])
    }
    connection.subscriptions.set(first, filters)
    if (this.skipsEose > 0 && (first as string) !== "heartbeat") {
      this.skipsEose -= 1
      return
    }
    for (const event of this.select(filters)) connection.say(["EVENT", first, event])
    connection.say(["EOSE", first])
  }

  /** The services of whoever speaks with it. */
  get layer(): Layer.Layer<HttpClient.HttpClient | Socket.WebSocketConstructor> {
    return Layer.mergeAll(
      Layer.succeed(HttpClient.HttpClient, HttpClient.make(this.answer)),
      Layer.succeed(Socket.WebSocketConstructor, () => {
        const connection = new Connection(this)
        if (this.isUp) this.connections.add(connection)
        return connection
      })
    )
  }

  private readonly answer: Parameters<typeof HttpClient.make>[0] = (request) =>
    Effect.suspend(() => {
      if (!this.isUp) {
        const reason = new HttpClientError.TransportError({ request, cause: new Error("ECONNREFUSED") })
        return Effect.fail(new HttpClientError.HttpClientError({ reason }))
      }
      const status = this.troubles.shift() ?? 200
      const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : "[]"
      const rows = status === 200 ? this.select(JSON.parse(body) as ReadonlyArray<Filter>) : { error: "trouble" }
      const response = HttpClientResponse.fromWeb(request, new Response(null, { status }))
      // Without the promise of a real body, which no test clock knows of.
      Object.defineProperty(response, "text", { value: Effect.succeed(JSON.stringify(rows)) })
      return Effect.delay(Effect.succeed(response), this.pageMillis)
    })

  private select(filters: ReadonlyArray<Filter>): ReadonlyArray<NostrEvent> {
    return filters.flatMap((filter) =>
      this.stored
        .filter((event) => matches(filter, event))
        .toSorted(newestFirst)
        .slice(0, Math.min(filter.limit ?? CLAMP, CLAMP))
    )
  }

  private deliver(event: NostrEvent): void {
    for (const connection of this.connections) {
      for (const [id, filters] of connection.subscriptions) {
        if (filters.some((filter) => matches(filter, event))) connection.say(["EVENT", id, event])
      }
    }
  }
}

const COPIES = { delivered: 1, lost: 0, twice: 2 } as const
