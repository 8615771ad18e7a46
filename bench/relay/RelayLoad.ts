/**
 * Bench `relay`: what a publisher, two hundred readers and two thousand idle connections cost the embedded relay and a relay
 * from npm, by turns.
 */
import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { signEvent } from "../../packages/relay/src/EventSigning.ts"
import * as Identity from "../../packages/relay/src/Identity.ts"
import * as Nip42 from "../../packages/relay/src/Nip42.ts"
import type { NostrEvent } from "../../packages/relay/src/NostrEvent.ts"
import { Schnorr } from "../../packages/relay/src/Schnorr.ts"
import { ratio, table, verdict } from "../Report.ts"
import { median } from "../Statistics.ts"
import { type ServedRelay, start } from "./ServedRelay.ts"
import { open, type WireClient } from "./WireClient.ts"

const TURNS = 5
/** Events that are sent before the first answer is awaited. */
const WINDOW = 100
const SUBSCRIBERS = 200
const IDLE_CONNECTIONS = 2000
/** Opened at once. */
const OPENING = 50

/** Of one turn; the slower relay gets fewer, for a turn of the same length. */
const EVENTS = { embedded: 2000, npm: 300 }
const FANNED_OUT = { embedded: 100, npm: 100 }

type Kind = keyof typeof EVENTS
const KINDS = ["embedded", "npm"] as const
const PROGRAMS = { embedded: "./EmbeddedServer.ts", npm: "./NpmServer.ts" } as const

/** Figures of one relay. */
interface Figures {
  /** Per second. */
  readonly accepted: Array<number>
  readonly delivered: Array<number>
  /** Microseconds of the relay's processor time per delivery. */
  readonly cost: Array<number>
  /** Bytes per connection. */
  idle: number
}

/** The report. */
export const relayLoad = Effect.gen(function* () {
  const author = yield* newAuthor
  const figures = { embedded: empty(), npm: empty() }
  for (const kind of KINDS) figures[kind].idle = yield* Effect.scoped(idleMemory(kind, author))
  const sides = yield* Effect.forEach(KINDS, (kind) => Effect.map(side(kind, author), (it) => [kind, it] as const))
  for (let turn = 0; turn < TURNS; turn++)
    for (const [kind, it] of sides) {
      figures[kind].accepted.push(yield* Effect.promise(() => it.publish(author.events(it.channel, EVENTS[kind]))))
    }
  for (const [, it] of sides) yield* Effect.promise(() => it.subscribe())
  for (let turn = 0; turn < TURNS; turn++)
    for (const [kind, it] of sides) {
      const { cost, rate } = yield* Effect.promise(() => it.fanOut(author.events(it.channel, FANNED_OUT[kind])))
      figures[kind].delivered.push(rate)
      figures[kind].cost.push(cost)
    }
  return report(figures)
}).pipe(Effect.scoped)

const empty = (): Figures => ({ accepted: [], delivered: [], cost: [], idle: Number.NaN })

const now = (): number => Math.floor(Date.now() / 1000)

/** Somebody who signs messages, and answers challenges. */
type Author = Effect.Success<typeof newAuthor>

const newAuthor = Effect.gen(function* () {
  const schnorr = yield* Schnorr
  const identity = yield* Identity.generate
  let number = 0
  const sign = (kind: number, content: string, tags: NostrEvent["tags"]) =>
    signEvent(schnorr, { kind, content, tags, created_at: now() }, identity.secretKey)
  return {
    sign,
    events: (channel: string, count: number) =>
      Array.from({ length: count }, () => sign(9, `message ${++number} ${"x".repeat(200)}`, [["h", channel]])),
    answer: (relayUrl: string, challenge: string) =>
      Nip42.authEvent(schnorr, identity, { relayUrl, challenge, now: now() })
  }
})

/** Connected; the embedded relay wants to know with whom. */
const connected = async (kind: Kind, url: string, author: Author): Promise<WireClient> => {
  const client = await open(url)
  if (kind === "embedded") {
    const [, challenge] = await client.next()
    client.send("AUTH", author.answer(url, String(challenge)))
    await client.next()
  }
  return client
}

const side = Effect.fnUntraced(function* (kind: Kind, author: Author) {
  const relay = yield* start(PROGRAMS[kind])
  const publisher = yield* Effect.promise(() => connected(kind, relay.url, author))
  const channel = randomUUID()
  if (kind === "embedded")
    yield* Effect.promise(() => {
      const tags: NostrEvent["tags"] = [
        ["h", channel],
        ["name", "bench"],
        ["visibility", "private"],
        ["channel_type", "stream"]
      ]
      publisher.send("EVENT", author.sign(9007, "", tags))
      return publisher.skip(1)
    })
  const subscribers: Array<WireClient> = []
  return {
    channel,
    publish: (events: ReadonlyArray<NostrEvent>) => publish(publisher, events),
    subscribe: async () => {
      for (let i = 0; i < SUBSCRIBERS; i++) {
        const client = await connected(kind, relay.url, author)
        client.send("REQ", "s", { kinds: [9], "#h": [channel], limit: 0 })
        await client.skip(1)
        subscribers.push(client)
      }
    },
    fanOut: (events: ReadonlyArray<NostrEvent>) => fanOut(relay, publisher, subscribers, events)
  }
})

/** Events per second. */
const publish = async (publisher: WireClient, events: ReadonlyArray<NostrEvent>): Promise<number> => {
  const before = performance.now()
  for (let sent = 0; sent < events.length; sent += WINDOW) {
    const window = events.slice(sent, sent + WINDOW)
    for (const event of window) publisher.send("EVENT", event)
    await publisher.skip(window.length)
  }
  return (events.length * 1000) / (performance.now() - before)
}

const fanOut = async (
  relay: ServedRelay,
  publisher: WireClient,
  subscribers: ReadonlyArray<WireClient>,
  events: ReadonlyArray<NostrEvent>
) => {
  const deliveries = events.length * subscribers.length
  const { cpu } = await relay.usage()
  const before = performance.now()
  const all = Promise.all(subscribers.map((subscriber) => subscriber.skip(events.length)))
  await publish(publisher, events)
  await all
  const seconds = (performance.now() - before) / 1000
  const used = (await relay.usage()).cpu - cpu
  return { rate: deliveries / seconds, cost: (used * 1e6) / deliveries }
}

const idleMemory = Effect.fnUntraced(function* (kind: Kind, author: Author) {
  const relay = yield* start(PROGRAMS[kind])
  return yield* Effect.promise(async () => {
    const openSome = async (count: number) => {
      const clients: Array<WireClient> = []
      while (clients.length < count)
        clients.push(...(await Promise.all(Array.from({ length: OPENING }, () => connected(kind, relay.url, author)))))
      return clients
    }
    // Whatever the first connections make the relay load is not theirs.
    const first = await openSome(OPENING)
    const before = (await relay.usage()).memory
    const clients = await openSome(IDLE_CONNECTIONS)
    const after = (await relay.usage()).memory
    for (const client of [...first, ...clients]) client.end()
    return (after - before) / clients.length
  })
})

const report = ({ embedded, npm }: Record<Kind, Figures>): string => {
  const rows = [
    { name: "EVENT → OK, verified, per second", of: (it: Figures) => median(it.accepted), digits: 0, more: true },
    {
      name: `deliveries to ${SUBSCRIBERS} subscribers, per second`,
      of: (it: Figures) => median(it.delivered),
      digits: 0,
      more: true
    },
    { name: "processor time per delivery, µs", of: (it: Figures) => median(it.cost), digits: 1, more: false },
    { name: "memory per idle connection, KiB", of: (it: Figures) => it.idle / 1024, digits: 1, more: false }
  ]
  return [
    table(
      [`${TURNS} turns each, medians`, "embedded", "@nostr-relay/core", "core to embedded"],
      rows.map(({ digits, name, of }) => [
        name,
        of(embedded).toFixed(digits),
        of(npm).toFixed(digits),
        ratio(of(npm), of(embedded))
      ])
    ),
    "",
    ...rows.map(({ more, name, of }) =>
      verdict(more ? of(embedded) > of(npm) : of(embedded) < of(npm), `ahead in ${name}`, ratio(of(npm), of(embedded)))
    )
  ].join("\n")
}
