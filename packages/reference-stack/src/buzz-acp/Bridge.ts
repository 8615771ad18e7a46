/**
 * The main loop of `buzz-acp`: one fiber that takes what happened, one thing after the other, and starts turns. What an
 * event means is `EventGate`, what waits is `TurnQueue`, what a turn's end leads to is `TurnOutcome`.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import { type NostrEvent, tagValues } from "@buzz-orchestra/relay/NostrEvent"
import { Clock, Effect, FiberSet, Option, Queue, Random } from "effect"
import { TracingLog } from "../TracingLog.ts"
import type { AgentPool, Lease } from "./AgentPool.ts"
import * as EventGate from "./EventGate.ts"
import { RecentIds } from "./RecentIds.ts"
import type { Subscriptions } from "./Subscriptions.ts"
import * as TurnOutcome from "./TurnOutcome.ts"
import * as TurnQueue from "./TurnQueue.ts"
import * as TurnRunner from "./TurnRunner.ts"

/** Something that happened. */
export type Input =
  | { readonly _tag: "Event"; readonly channel: string; readonly event: NostrEvent }
  | { readonly _tag: "Membership"; readonly event: NostrEvent }
  | {
      readonly _tag: "TurnEnded"
      readonly channel: string
      readonly batch: ReadonlyArray<NostrEvent>
      readonly lease: Lease
      readonly outcome: TurnOutcome.TurnOutcome
    }
  /** An agent became free, or the last one died for good. */
  | { readonly _tag: "AgentsChanged" }
  | { readonly _tag: "Stop" }

/** What the loop works with. */
export interface BridgeContext extends TurnRunner.TurnContext {
  readonly self: string
  readonly owner: string | undefined
  readonly inputs: Queue.Queue<Input>
  readonly pool: AgentPool
  readonly subscriptions: Subscriptions
}

/** Running prompts may finish for so long after a stop. They are not cancelled. */
const STOP_GRACE = "30 seconds"

/** Runs until it is told to stop or no agent is left. Turns that still run then are waited for, for a while. */
export const run = Effect.fn("Bridge.run")(function* (context: BridgeContext) {
  const { log } = yield* TracingLog
  const bridge: Bridge = {
    ...context,
    queue: TurnQueue.empty,
    seen: new RecentIds(),
    siblings: new Map(),
    running: new Map(),
    turns: yield* FiberSet.make<void, never>(),
    background: yield* FiberSet.make<void, never>()
  }
  for (;;) {
    const input = yield* next(bridge)
    if (input?._tag === "Stop") break
    if (input !== undefined) yield* handle(bridge, input)
    if (context.pool.isDead()) {
      yield* log("ERROR", "buzz_acp", "all agents dead — exiting")
      return
    }
    yield* startTurns(bridge)
  }
  yield* log("INFO", "buzz_acp", "shutting down")
  if ((yield* FiberSet.size(bridge.turns)) === 0) return
  yield* log("INFO", "buzz_acp", "shutdown: waiting for in-flight prompts")
  yield* Effect.timeoutOption(FiberSet.awaitEmpty(bridge.turns), STOP_GRACE)
})

/** The loop's state. Only the loop's own fiber changes it. */
interface Bridge extends BridgeContext {
  queue: TurnQueue.TurnQueue
  readonly seen: RecentIds
  /** Whether an author belongs to the same owner; asked once, and never again. */
  readonly siblings: Map<string, boolean>
  readonly running: Map<string, { readonly turn: TurnRunner.RunningTurn; readonly lease: Lease }>
  readonly turns: FiberSet.FiberSet<void>
  /** Signs for people: nobody waits for them. */
  readonly background: FiberSet.FiberSet<void>
}

/** The next input, or `undefined` when something that waits may start. */
const next = Effect.fnUntraced(function* ({ inputs, queue }: Bridge) {
  const pause = TurnQueue.nextStart(queue, yield* Clock.currentTimeMillis)
  // What could start already waits for an agent, and that is an input.
  if (pause === undefined || pause === 0) return yield* Queue.take(inputs)
  return Option.getOrUndefined(yield* Effect.timeoutOption(Queue.take(inputs), pause))
})

const handle = (bridge: Bridge, input: Exclude<Input, { readonly _tag: "Stop" }>) => {
  switch (input._tag) {
    case "Event":
      return bridge.seen.add(input.event.id) ? onEvent(bridge, input.channel, input.event) : Effect.void
    case "Membership":
      return bridge.seen.add(input.event.id) ? onMembership(bridge, input.event) : Effect.void
    case "TurnEnded":
      return onTurnEnded(bridge, input)
    case "AgentsChanged":
      return Effect.void
  }
}

const onEvent = Effect.fnUntraced(function* (bridge: Bridge, channel: string, event: NostrEvent) {
  const { log } = yield* TracingLog
  const gate: EventGate.GateContext = { ...bridge, isSibling: (author) => bridge.siblings.get(author) }
  let verdict = EventGate.decide(event, gate)
  if (verdict._tag === "NeedsProfile") {
    bridge.siblings.set(event.pubkey, (yield* bridge.directory.ownerOf(event.pubkey)) === bridge.owner)
    verdict = EventGate.decide(event, gate)
  }
  switch (verdict._tag) {
    case "StartsTurn":
      return yield* enqueue(bridge, channel, event)
    case "Command":
      return yield* obey(bridge, channel, verdict.command)
    case "Dropped":
      return yield* log("DEBUG", "buzz_acp", `dropping event: ${verdict.why}`, { event_id: event.id })
    case "NeedsProfile":
      return undefined
  }
})

const enqueue = Effect.fnUntraced(function* (bridge: Bridge, channel: string, event: NostrEvent) {
  const { log } = yield* TracingLog
  const [queue, offered] = TurnQueue.offer(bridge.queue, channel, event, bridge.config.dedup)
  bridge.queue = queue
  if (offered !== "queued")
    return yield* log(
      offered === "full" ? "WARN" : "DEBUG",
      "buzz_acp::queue",
      `event dropped: channel is ${offered}`,
      {
        channel,
        event_id: event.id
      }
    )
  yield* log("DEBUG", "buzz_acp::queue", "event queued", { channel, event_id: event.id })
  yield* FiberSet.run(bridge.background, bridge.presence.react([event], "👀"))
  const { multipleEvents } = bridge.config
  const interrupts =
    multipleEvents === "interrupt" || (multipleEvents === "owner-interrupt" && event.pubkey === bridge.owner)
  if (interrupts) yield* cancel(bridge, channel, "newer event")
})

const obey = (bridge: Bridge, channel: string, command: EventGate.OwnerCommand) => {
  switch (command) {
    case "shutdown":
      return Effect.asVoid(Queue.offer(bridge.inputs, { _tag: "Stop" }))
    case "cancel":
      return cancel(bridge, channel, "owner")
    case "rotate":
      return Effect.sync(() => bridge.pool.forget(channel))
  }
}

const cancel = (bridge: Bridge, channel: string, by: TurnOutcome.CancelledBy): Effect.Effect<void> => {
  const running = bridge.running.get(channel)
  if (running?.turn.sessionId === undefined || running.turn.cancelledBy !== undefined) return Effect.void
  running.turn.cancelledBy = by
  return running.lease.process.cancel(running.turn.sessionId)
}

const onMembership = Effect.fnUntraced(function* (bridge: Bridge, event: NostrEvent) {
  const { log } = yield* TracingLog
  const [channel] = tagValues(event, "h")
  const { channels } = bridge.config
  if (channel === undefined || (channels !== undefined && !channels.includes(channel))) return
  if (event.kind === EventKind.MemberAdded) {
    if (bridge.subscriptions.has(channel)) return
    yield* log("INFO", "buzz_acp", "membership notification: subscribing to new channel", { channel_id: channel })
    return yield* bridge.subscriptions.add(channel, event.created_at)
  }
  yield* log("INFO", "buzz_acp", `membership notification: unsubscribing from channel ${channel}`)
  bridge.queue = TurnQueue.remove(bridge.queue, channel)
  yield* bridge.subscriptions.remove(channel)
})

const startTurns = Effect.fnUntraced(function* (bridge: Bridge) {
  const now = yield* Clock.currentTimeMillis
  for (;;) {
    const next = TurnQueue.take(bridge.queue, now)
    const lease = next === undefined ? undefined : bridge.pool.lend(next.channel)
    if (next === undefined || lease === undefined) return
    bridge.queue = next.queue
    const { batch, channel } = next
    const turn: TurnRunner.RunningTurn = { sessionId: undefined, cancelledBy: undefined }
    bridge.running.set(channel, { turn, lease })
    yield* FiberSet.run(
      bridge.turns,
      Effect.flatMap(TurnRunner.run(bridge, lease, { channel, batch, running: turn }), (outcome) =>
        Effect.asVoid(Queue.offer(bridge.inputs, { _tag: "TurnEnded", channel, batch, lease, outcome }))
      )
    )
  }
})

const onTurnEnded = Effect.fnUntraced(function* (
  bridge: Bridge,
  { batch, channel, lease, outcome }: Extract<Input, { readonly _tag: "TurnEnded" }>
) {
  const { log } = yield* TracingLog
  const consequence = TurnOutcome.consequence(outcome)
  const line = TurnOutcome.returnLine(outcome, lease.index)
  if (line !== undefined) yield* log(line.level, line.target, line.message, line.fields)
  bridge.running.delete(channel)
  yield* bridge.pool.giveBack(lease, consequence.agent)
  yield* FiberSet.run(bridge.background, bridge.presence.unreact(batch))
  // A channel that we left meanwhile has nothing more to say to us.
  const end = bridge.subscriptions.has(channel) ? consequence.batch : "discarded"
  const [queue, settled] = TurnQueue.settle(bridge.queue, channel, end, {
    now: yield* Clock.currentTimeMillis,
    jitter: yield* Random.next,
    dedup: bridge.config.dedup
  })
  bridge.queue = queue
  if (settled._tag === "Requeued")
    yield* log("WARN", "buzz_acp::queue", "requeueing failed batch with backoff", {
      channel,
      retry: settled.retry,
      delay_secs: Math.round(settled.delayMillis / 1000),
      events: settled.events
    })
  if (settled._tag === "DeadLettered")
    yield* log(
      "ERROR",
      "buzz_acp::queue",
      `dead-lettering batch after ${TurnQueue.MAX_RETRIES} retries — discarding ${settled.events} events`,
      { channel }
    )
})
