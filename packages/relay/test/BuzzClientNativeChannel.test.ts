import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import type { BuzzClient } from "../src/BuzzClient.ts"
import * as ChannelHistory from "../src/ChannelHistory.ts"
import { matches, newestFirst } from "../src/Filter.ts"
import type { NostrEvent, Tag } from "../src/NostrEvent.ts"
import { signedBy, testIdentity } from "../src/testing/TestIdentity.ts"
import {
  accepted,
  detailOf,
  eventOf,
  filtersOf,
  lastOf,
  notAccepted,
  ok,
  reasonOf,
  type Respond,
  run
} from "./ScriptedHttp.ts"

const CHANNEL = "99999999-8888-4777-8666-555555555555"
const identity = testIdentity(2)
const actor = { relayUrl: "http://127.0.0.1:3600", identity }
const relayKey = testIdentity(99)
const ada = testIdentity(3).pubkey

const membersEvent = (...members: ReadonlyArray<readonly [string, string]>) =>
  signedBy(relayKey, {
    kind: 39_002,
    tags: [["d", CHANNEL], ...members.map(([pubkey, role]): Tag => ["p", pubkey, "", role])]
  })

const create = (client: BuzzClient["Service"]) =>
  client.createChannel(actor, { id: CHANNEL, name: "trial", description: "run=1" })
const archive = (client: BuzzClient["Service"]) => client.archiveChannel(actor, CHANNEL)
const members = (client: BuzzClient["Service"]) => client.members(actor, CHANNEL)
const profile = (client: BuzzClient["Service"]) => client.setProfile(actor, { name: "Ada", about: "leads" })

/** A relay where the channel exists and has these members. */
const exists =
  (...members: ReadonlyArray<readonly [string, string]>): Respond =>
  (request) =>
    request.path === "/query"
      ? ok(members.length === 0 ? [] : [membersEvent(...members)])
      : notAccepted(request, "duplicate: channel already exists")

const read = (client: BuzzClient["Service"]) => client.readChannel(actor, CHANNEL)
const message = (n: number, fields: Partial<NostrEvent> = {}) =>
  signedBy(identity, { kind: 9, created_at: 1_700_000_000 + n, tags: [["h", CHANNEL]], content: `m${n}`, ...fields })

/** A relay with these events that never returns more than `clamp` at once. */
const storeOf = (
  events: ReadonlyArray<NostrEvent>,
  options: { readonly clamp?: number; readonly ignoresBeforeId?: boolean } = {}
) =>
  ((request) => {
    const [{ before_id, ...filter } = {}] = filtersOf(request)
    const asked = options.ignoresBeforeId === true || before_id === undefined ? filter : { ...filter, before_id }
    const found = events.filter((event) => matches(asked, event)).toSorted(newestFirst)
    return ok(found.slice(0, Math.min(filter.limit ?? 1_000, options.clamp ?? 1_000)))
  }) satisfies Respond

describe("createChannel", () => {
  it.effect("asks for a private stream under the given UUID", () =>
    Effect.gen(function* () {
      const { result, seen } = yield* run(create, (request) => accepted(request))
      assert.isTrue(Result.isSuccess(result))
      const event = eventOf(lastOf(seen))
      assert.strictEqual(event.kind, 9007)
      assert.deepStrictEqual(event.tags, [
        ["h", CHANNEL],
        ["name", "trial"],
        ["visibility", "private"],
        ["channel_type", "stream"],
        ["about", "run=1"]
      ])
    })
  )

  it.effect("takes a channel that exists for the one asked for only when it is ours", () =>
    Effect.gen(function* () {
      const ours = yield* run(create, exists([identity.pubkey, "owner"]))
      assert.isTrue(Result.isSuccess(ours.result))
      for (const members of [[], [[identity.pubkey, "member"]], [[ada, "owner"]]] as ReadonlyArray<
        ReadonlyArray<readonly [string, string]>
      >) {
        const { result } = yield* run(create, exists(...members))
        assert.strictEqual(detailOf(result), "duplicate: channel already exists")
      }
    })
  )
})

describe("archiveChannel", () => {
  it.effect("takes an archived channel for done, and nothing else", () =>
    Effect.gen(function* () {
      const done = yield* run(archive, () => ({ status: 400, body: { error: "invalid: channel is archived" } }))
      assert.isTrue(Result.isSuccess(done.result))
      const failed = yield* run(archive, () => ({ status: 400, body: { error: "invalid: channel not found" } }))
      assert.strictEqual(reasonOf(failed.result)?._tag, "RelayRefused")
    })
  )
})

describe("members", () => {
  it.effect("reads the relay's list, an empty role as member, and nobody where there is no channel", () =>
    Effect.gen(function* () {
      const listed = yield* run(members, () => ok([membersEvent([identity.pubkey, "owner"], [ada, ""])]))
      assert.deepStrictEqual(Result.getOrThrow(listed.result), [
        { pubkey: identity.pubkey, role: "owner" },
        { pubkey: ada, role: "member" }
      ])
      const none = yield* run(members, () => ok([]))
      assert.deepStrictEqual(Result.getOrThrow(none.result), [])
    })
  )
})

describe("setProfile", () => {
  it.effect("keeps the fields that the profile has already, and is newer than it", () =>
    Effect.gen(function* () {
      const content = JSON.stringify({ name: "old", picture: "https://x", nip05: "a@b" })
      const existing = signedBy(identity, { kind: 0, created_at: 1_700_000_000, content })
      const { seen } = yield* run(profile, (request) =>
        request.path === "/query" ? ok([existing]) : accepted(request)
      )
      const event = eventOf(lastOf(seen))
      assert.isAbove(event.created_at, existing.created_at)
      assert.deepStrictEqual(JSON.parse(event.content), {
        name: "Ada",
        display_name: "Ada",
        about: "leads",
        picture: "https://x",
        nip05: "a@b"
      })
    })
  )

  it.effect("fails when the relay keeps a newer profile instead", () =>
    Effect.gen(function* () {
      const newer = signedBy(identity, { kind: 0, content: '{"name":"other"}' })
      const { result } = yield* run(profile, (request, before) =>
        request.path === "/events" ? accepted(request, "duplicate:") : ok(before.length === 0 ? [] : [newer])
      )
      assert.match(detailOf(result), /newer profile/)
      const resent = yield* run(profile, (request, before) => {
        if (request.path === "/events") return accepted(request, "duplicate:")
        const sent = before.find(({ path }) => path === "/events")
        return ok(sent === undefined ? [] : [eventOf(sent)])
      })
      assert.isTrue(Result.isSuccess(resent.result))
    })
  )
})

describe("readChannel", () => {
  it.effect("pages to the root and returns the oldest first, whatever the page size of the relay", () =>
    Effect.gen(function* () {
      // Three to a second, so that pages end in the middle of one.
      const events = Array.from({ length: 40 }, (_, n) => message(Math.floor(n / 3), { content: `m${n}` }))
      for (const clamp of [1, 2, 7, 40, 1_000]) {
        const { result } = yield* run(read, storeOf(events, { clamp }))
        const contents = Result.getOrThrow(result).map(({ content }) => content)
        assert.strictEqual(contents.length, 40)
        assert.sameMembers(
          contents,
          events.map(({ content }) => content)
        )
        const times = Result.getOrThrow(result).map(({ created_at }) => created_at)
        assert.deepStrictEqual(
          times,
          times.toSorted((a, b) => a - b)
        )
      }
    })
  )

  it.effect("pages on a relay that knows only whole seconds", () =>
    Effect.gen(function* () {
      const events = Array.from({ length: 12 }, (_, n) => message(n))
      const { result } = yield* run(read, storeOf(events, { clamp: 5, ignoresBeforeId: true }))
      assert.strictEqual(Result.getOrThrow(result).length, 12)
    })
  )

  it.effect("says so when a second holds more than a page and the relay cannot page within it", () =>
    Effect.gen(function* () {
      // The same event over and over: only what is new counts.
      const one = message(1)
      const full = Array.from({ length: ChannelHistory.PAGE_SIZE }, () => one)
      const { result } = yield* run(read, () => ok(full))
      assert.match(detailOf(result), /in one second/)
    })
  )

  it.effect("asks for kinds and one channel, as the relay demands", () =>
    Effect.gen(function* () {
      const { seen } = yield* run(read, storeOf([]))
      assert.deepStrictEqual(filtersOf(lastOf(seen)), [
        { kinds: [9, 40_002, 40_003, 5, 9005], "#h": [CHANNEL], limit: 500 }
      ])
    })
  )

  it.effect("drops what does not verify or belongs elsewhere", () =>
    Effect.gen(function* () {
      const good = message(1)
      const elsewhere = message(2, { tags: [["h", "other"]] })
      const forged = { ...message(3), content: "forged" }
      const { result } = yield* run(read, (_request, before) =>
        ok(before.length === 0 ? [forged, elsewhere, good, { not: "an event" }, null] : [])
      )
      assert.deepStrictEqual(Result.getOrThrow(result), [good])
    })
  )
})
