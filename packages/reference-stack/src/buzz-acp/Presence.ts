/**
 * What people see of a working agent: reactions, typing, presence. All of it is best effort: a relay that does not take it
 * changes nothing about a turn.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import { signEvent } from "@buzz-orchestra/relay/EventSigning"
import type { Identity } from "@buzz-orchestra/relay/Identity"
import type { NostrEvent, Tag } from "@buzz-orchestra/relay/NostrEvent"
import type { RelayConnection } from "@buzz-orchestra/relay/RelayConnection"
import { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import { Clock, type Duration, Effect, Schedule } from "effect"
import { RelayBridge } from "../RelayBridge.ts"
import * as Thread from "../Thread.ts"

export interface Presence {
  /** Reacts to each event: 👀 when it was queued, 💬 when its turn starts. */
  react(events: ReadonlyArray<NostrEvent>, emoji: "👀" | "💬"): Effect.Effect<void>
  /** Takes back all own reactions to these events. */
  unreact(events: ReadonlyArray<NostrEvent>): Effect.Effect<void>
  /** Shows typing in the channel, or in the thread that `event` belongs to, until interrupted. */
  typing(channel: string, event: NostrEvent): Effect.Effect<void>
  /** Publishes the status once. */
  set(status: "online" | "offline"): Effect.Effect<void>
  /** Repeats `online` until interrupted. */
  readonly keepOnline: Effect.Effect<void>
}

const REACTION_TIMEOUT: Duration.Input = "500 millis"
const TYPING_EVERY: Duration.Input = "3 seconds"
const PRESENCE_EVERY: Duration.Input = "60 seconds"
const STATUS_TIMEOUT: Duration.Input = "2 seconds"

/** The signs of one identity over one connection. */
export const make = Effect.fnUntraced(function* (connection: RelayConnection, identity: Identity) {
  const bridge = yield* RelayBridge
  const schnorr = yield* Schnorr

  const ephemeral = (kind: number, tags: ReadonlyArray<Tag>, content: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.ignore(
        connection.publish(
          signEvent(schnorr, { kind, tags, content, created_at: Math.floor(now / 1000) }, identity.secretKey)
        )
      )
    )

  const publish = (kind: number, target: string, content: string) =>
    Effect.ignore(
      Effect.timeout(bridge.publish({ kind, tags: [["e", target]], content }, { withAuthTag: false }), REACTION_TIMEOUT)
    )

  const presence: Presence = {
    react: (events, emoji) =>
      Effect.forEach(events, ({ id }) => publish(EventKind.Reaction, id, emoji), { concurrency: 8, discard: true }),
    unreact: (events) =>
      bridge
        .query([{ kinds: [EventKind.Reaction], authors: [identity.pubkey], "#e": events.map(({ id }) => id) }])
        .pipe(
          Effect.flatMap((reactions) =>
            Effect.forEach(reactions, ({ id }) => publish(EventKind.Deletion, id, ""), {
              concurrency: 8,
              discard: true
            })
          ),
          Effect.ignore
        ),
    typing: (channel, event) =>
      ephemeral(
        EventKind.Typing,
        [["h", channel], ...(Thread.rootOf(event) === undefined ? [] : Thread.replyTags(event))],
        ""
      ).pipe(Effect.repeat(Schedule.spaced(TYPING_EVERY)), Effect.asVoid),
    set: (status) => Effect.ignore(Effect.timeout(ephemeral(EventKind.Presence, [], status), STATUS_TIMEOUT)),
    keepOnline: Effect.suspend(() => presence.set("online")).pipe(Effect.delay(PRESENCE_EVERY), Effect.forever)
  }
  return presence
})
