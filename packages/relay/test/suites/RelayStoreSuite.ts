/**
 * What every store of a relay must do: give back, to whoever opens it next, what was committed.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Result, Schema, type Scope } from "effect"
import type * as Channel from "../../src/server/Channel.ts"
import type { StoredEvent } from "../../src/server/EventStore.ts"
import { type Change, RelayStore, type RelayStoreError, type Snapshot } from "../../src/server/RelayStore.ts"
import { CHANNEL, OTHER_CHANNEL, person, sign } from "../server/support.ts"

/** Opens the same place each time. */
export type Reopen = Effect.Effect<RelayStore["Service"], RelayStoreError, Scope.Scope>

const people = ["ada", "bob", "eve"].map(person)
const pubkey = (index: number): string => people[index]?.pubkey ?? ""

const event = (index: number): StoredEvent => ({
  event: sign(people[index % 3] ?? person("ada"), {
    kind: [9, 0, 7][index % 3] ?? 9,
    content: `event ${index} \u{1f41d} "quoted"\n`,
    tags: [
      ["h", CHANNEL],
      ["p", pubkey(index % 2), "", "reply"]
    ]
  }),
  channelId: index % 2 === 0 ? CHANNEL : undefined,
  thread: index % 4 === 0 ? { rootId: "a".repeat(64), parentId: "b".repeat(64), depth: index + 1 } : undefined
})

const channel = (index: number): Channel.Channel => ({
  id: index % 2 === 0 ? CHANNEL : OTHER_CHANNEL,
  name: `channel ${index}`,
  about: "",
  topic: "topic",
  purpose: "",
  visibility: index % 3 === 0 ? "open" : "private",
  type: "stream",
  ttlSeconds: index % 2 === 0 ? undefined : index,
  archived: index % 5 === 0,
  deleted: false,
  members: new Map([
    [pubkey(index % 3), "owner"],
    [pubkey((index + 1) % 3), "bot"]
  ])
})

const change = (tag: Change["_tag"], index: number): Change => {
  switch (tag) {
    case "Stored":
      return { _tag: tag, stored: event(index) }
    case "Removed":
      return { _tag: tag, id: event(index).event.id }
    case "Channel":
      return { _tag: tag, channel: channel(index) }
    case "Owner":
      return { _tag: tag, agent: pubkey(index % 3), owner: pubkey((index + 1) % 3) }
    case "Member":
      return {
        _tag: tag,
        pubkey: pubkey(index % 3),
        role: (["owner", "admin", "member", undefined] as const)[index % 4]
      }
    case "RelayKey":
      return { _tag: tag, secretKey: Redacted.make(String(index).padStart(64, "0")) }
  }
}

const Tags = Schema.Literals(["Stored", "Stored", "Removed", "Channel", "Owner", "Member", "RelayKey"])
const Index = Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: 9 })))
const Commit = Schema.Array(Schema.Tuple([Tags, Index])).pipe(Schema.check(Schema.isMaxLength(5)))
const Lives = Schema.Array(Schema.Array(Commit).pipe(Schema.check(Schema.isMaxLength(4)))).pipe(
  Schema.check(Schema.isMaxLength(3))
)

/** The last word on everything, written down once more, in an order that is no store's. */
const expected = (changes: ReadonlyArray<Change>) => {
  const last = new Map<string, Change>()
  for (const it of changes) last.set(keyOf(it), it)
  const of = <T extends Change["_tag"]>(tag: T) =>
    [...last.values()].filter((it): it is Extract<Change, { _tag: T }> => it._tag === tag)
  return comparable({
    events: of("Stored").map(({ stored }) => stored),
    gone: changes.flatMap((it) => (it._tag === "Removed" ? [it.id] : [])),
    channels: of("Channel").map(({ channel }) => channel),
    owners: of("Owner").map(({ agent, owner }) => [agent, owner] as const),
    members: of("Member").flatMap(({ pubkey, role }) => (role === undefined ? [] : [[pubkey, role] as const])),
    relayKey: of("RelayKey").at(-1)?.secretKey
  })
}

const keyOf = (it: Change): string => {
  switch (it._tag) {
    case "Stored":
      return it.stored.event.id
    case "Removed":
      return it.id
    case "Channel":
      return it.channel.id
    case "Owner":
      return `owner ${it.agent}`
    case "Member":
      return `member ${it.pubkey}`
    case "RelayKey":
      return it._tag
  }
}

const comparable = ({ channels, events, gone, members, owners, relayKey }: Snapshot) => ({
  events: events.toSorted((a, b) => (a.event.id < b.event.id ? -1 : 1)),
  gone: [...new Set(gone)].toSorted(),
  channels: channels.map((it) => ({ ...it, members: [...it.members] })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  owners: owners.toSorted(([a], [b]) => (a < b ? -1 : 1)),
  members: members.toSorted(([a], [b]) => (a < b ? -1 : 1)),
  relayKey: relayKey === undefined ? undefined : Redacted.value(relayKey)
})

/** `place` makes a place of its own for every case, and opens it as often as it is asked to. */
export const suite = (name: string, place: Effect.Effect<Reopen, never, Scope.Scope>, runs: number): void => {
  describe(`${name}`, () => {
    it.effect("is empty at first", () =>
      Effect.gen(function* () {
        const { load } = yield* yield* place
        assert.deepStrictEqual(comparable(yield* load), expected([]))
      }).pipe(Effect.scoped)
    )

    it.effect("keeps an event as it came, with its place in the thread", () =>
      Effect.gen(function* () {
        const reopen = yield* place
        const commit = Effect.flatMap(reopen, (store) =>
          Effect.fromResult(store.commit([change("Stored", 0), change("Stored", 1)]))
        )
        yield* Effect.scoped(commit)
        const { events } = yield* Effect.flatMap(reopen, ({ load }) => load)
        assert.deepStrictEqual(events, [event(0), event(1)])
      }).pipe(Effect.scoped)
    )

    it.effect.prop(
      "gives back what was committed, whoever opens it next",
      [Lives],
      ([lives]) =>
        Effect.gen(function* () {
          const reopen = yield* place
          const all: Array<Change> = []
          for (const life of lives) {
            yield* Effect.scoped(
              Effect.gen(function* () {
                const store = yield* reopen
                assert.deepStrictEqual(comparable(yield* store.load), expected(all))
                for (const commit of life) {
                  const changes = commit.map(([tag, index]) => change(tag, index))
                  assert.isTrue(Result.isSuccess(store.commit(changes)))
                  all.push(...changes)
                }
              })
            )
          }
          const { load } = yield* reopen
          assert.deepStrictEqual(comparable(yield* load), expected(all))
        }).pipe(Effect.scoped),
      { arbitrary: { runs } }
    )
  })
}

/** A place that is a layer. */
export const layered = (layer: Layer.Layer<RelayStore, RelayStoreError>): Reopen =>
  Effect.map(Layer.build(layer), (context) => Context.get(context, RelayStore))
