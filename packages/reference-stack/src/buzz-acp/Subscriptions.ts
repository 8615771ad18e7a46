/**
 * What the agent listens to: one subscription per channel and one for its own memberships. Everything arrives in one queue.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import type { Filter } from "@buzz-orchestra/relay/Filter"
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import type { RelayConnection } from "@buzz-orchestra/relay/RelayConnection"
import { Effect, FiberMap, Stream } from "effect"
import { TracingLog } from "../TracingLog.ts"
import type { AcpConfig } from "./AcpConfig.ts"

/** Seconds that a subscription reaches back, so that nothing falls between a decision and its subscription. */
const OVERLAP_SECONDS = 5

export interface Subscriptions {
  /** Listens to a channel from `since` (seconds) minus the overlap on; a second call for the same channel does nothing. */
  add(channel: string, since: number): Effect.Effect<void>
  /** Stops listening. */
  remove(channel: string): Effect.Effect<void>
  has(channel: string): boolean
  /** Listens to notices about the identity's own memberships. */
  memberships(since: number): Effect.Effect<void>
}

/** What to do with what arrives. */
export interface Receiver {
  readonly event: (channel: string, event: NostrEvent) => Effect.Effect<void>
  readonly membership: (event: NostrEvent) => Effect.Effect<void>
}

/**
 * The subscriptions of one connection. `since` stays what it was for the life of a subscription: after a reconnect the
 * relay sends everything again, and events are told apart by id, not by their authors' clocks. The scope owns them all.
 */
export const make = Effect.fnUntraced(function* (
  connection: RelayConnection,
  options: { readonly self: string; readonly config: AcpConfig; readonly receiver: Receiver }
) {
  const { log } = yield* TracingLog
  const { config, receiver, self } = options
  const fibers = yield* FiberMap.make<string, void, never>()

  const listen = (id: string, filter: Filter, receive: (event: NostrEvent) => Effect.Effect<void>) =>
    connection.subscribe(id, [filter]).pipe(
      Stream.runForEach((item) => {
        switch (item._tag) {
          case "Event":
            return receive(item.event)
          case "EndOfStored":
            return log("DEBUG", "buzz_acp::relay", `EOSE for subscription ${id}`)
          case "Requested":
            return log("DEBUG", "buzz_acp::relay", `subscribed to ${id} (with since filter)`)
        }
      }),
      Effect.catch((error) =>
        log("WARN", "buzz_acp::relay", `subscription ${id} closed by the relay: ${detail(error.reason)}`)
      )
    )

  const subscriptions: Subscriptions = {
    add: (channel, since) =>
      Effect.asVoid(
        FiberMap.run(
          fibers,
          channel,
          listen(`ch-${channel}`, channelFilter(config, self, channel, since), (event) =>
            receiver.event(channel, event)
          ),
          {
            onlyIfMissing: true
          }
        )
      ),
    remove: (channel) => FiberMap.remove(fibers, channel),
    has: (channel) => FiberMap.hasUnsafe(fibers, channel),
    memberships: (since) =>
      Effect.asVoid(
        FiberMap.run(
          fibers,
          MEMBERSHIPS,
          listen(
            MEMBERSHIPS,
            {
              kinds: [EventKind.MemberAdded, EventKind.MemberRemoved],
              "#p": [self],
              since: since - OVERLAP_SECONDS
            },
            receiver.membership
          )
        )
      )
  }
  return subscriptions
})

const MEMBERSHIPS = "membership-notif"

/** The filter of a channel's subscription. Pure. */
export const channelFilter = (
  config: Pick<AcpConfig, "kinds" | "mentionsOnly">,
  self: string,
  channel: string,
  since: number
): Filter => ({
  "#h": [channel],
  ...(config.mentionsOnly ? { "#p": [self] } : {}),
  ...(config.kinds === undefined ? {} : { kinds: config.kinds }),
  since: since - OVERLAP_SECONDS
})

const detail = (reason: { readonly _tag: string; readonly message: string }): string =>
  "detail" in reason && typeof reason.detail === "string" ? reason.detail : reason._tag
