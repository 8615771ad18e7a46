import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { inspect } from "node:util"
import type { BuzzClient } from "../src/BuzzClient.ts"
import * as Identity from "../src/Identity.ts"
import * as Sha256 from "../src/internal/sha256.ts"
import { MessageTooLong } from "../src/RelayError.ts"
import { pure } from "../src/Schnorr.ts"
import { signedBy, testIdentity } from "../src/testing/TestIdentity.ts"
import {
  accepted,
  type Answer,
  authOf,
  detailOf,
  eventOf,
  filtersOf,
  lastOf,
  notAccepted,
  ok,
  reasonOf,
  run
} from "./ScriptedHttp.ts"

const CHANNEL = "99999999-8888-4777-8666-555555555555"
const identity = testIdentity(2)
const actor = { relayUrl: "ws://localhost:3600/", identity }
const ada = testIdentity(3).pubkey

const send =
  (fields: { readonly content?: string; readonly mentions?: ReadonlyArray<string>; readonly replyTo?: string } = {}) =>
  (client: BuzzClient["Service"]) =>
    client.send(actor, { channelId: CHANNEL, content: "hello", ...fields })

describe("a request", () => {
  it.effect("is signed for the URL over HTTP, with nonce and the hash of the bytes that are sent", () =>
    Effect.gen(function* () {
      const { seen } = yield* run(send(), (request) => accepted(request))
      const [request] = seen
      assert.isDefined(request)
      assert.strictEqual(request.path, "/events")
      const tags = new Map(authOf(request).tags.map(([name, value]) => [name, value]))
      assert.strictEqual(tags.get("u"), "http://localhost:3600/events")
      assert.strictEqual(tags.get("payload"), Sha256.hex(request.body))
      assert.isDefined(tags.get("nonce"))
      assert.notProperty(request.headers, "x-auth-tag")
      assert.notProperty(request.headers, "traceparent")
    })
  )

  it.effect("carries the owner's attestation in a header and in the event", () =>
    Effect.gen(function* () {
      const attested = Identity.attested(pure, identity, testIdentity(1))
      const { seen } = yield* run(
        (client) => client.send({ ...actor, identity: attested }, { channelId: CHANNEL, content: "hello" }),
        (request) => accepted(request)
      )
      const [request] = seen
      assert.isDefined(request)
      const tag = attested.authTag === undefined ? "" : Redacted.value(attested.authTag)
      assert.strictEqual(request.headers["x-auth-tag"], tag)
      assert.deepStrictEqual(eventOf(request).tags.at(-1), JSON.parse(tag))
    })
  )

  it.effect("is tried again while the relay is away or busy: the same event, signed anew for each attempt", () =>
    Effect.gen(function* () {
      const answers: ReadonlyArray<Answer> = [
        { status: 429, body: { error: "rate-limited: retry in 3s" } },
        { status: 503, body: "starting" },
        "no connection",
        "silence",
        { status: 502, body: "" }
      ]
      const { result, seen } = yield* run(
        send(),
        (request, before) => answers[before.length] ?? accepted(request, "duplicate:")
      )
      assert.strictEqual(result._tag, "Success")
      assert.strictEqual(seen.length, 6)
      assert.strictEqual(new Set(seen.map((request) => eventOf(request).id)).size, 1)
      assert.strictEqual(new Set(seen.map((request) => authOf(request).id)).size, 6)
    })
  )

  it.effect("fails with a reason that says what happened once the attempts are used up", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [Answer, string, number, RegExp]> = [
        ["no connection", "RelayUnreachable", 6, /connect ECONNREFUSED 127.0.0.1:1/],
        ["silence", "RelayUnreachable", 6, /no answer within 10s/],
        [{ status: 504, body: "<html>" }, "RelayUnreachable", 6, /status 504/],
        [{ status: 429, body: {} }, "RelayRateLimited", 7, /^/],
        [{ status: 401, body: { error: "NIP-98: replay detected" } }, "RelayAuthRefused", 1, /replay/],
        [{ status: 403, body: { error: "relay_membership_required" } }, "RelayAuthRefused", 1, /membership/],
        [{ status: 403, body: { error: "restricted: p-gated kinds" } }, "RelayRefused", 1, /p-gated/],
        [{ status: 400, body: { error: "invalid: channel not found" } }, "RelayRefused", 1, /channel not found/],
        [{ status: 500, body: { message: "internal server error" } }, "RelayRefused", 1, /internal/],
        [{ status: 413, body: "length limit exceeded" }, "RelayRefused", 1, /length limit/],
        [ok("<html>"), "RelayReplyMalformed", 1, /not JSON/],
        [ok([]), "RelayReplyMalformed", 1, /accepted/],
        [ok({ event_id: "0", accepted: true }), "RelayReplyMalformed", 1, /another event/]
      ]
      for (const [answer, tag, attempts, detail] of cases) {
        const { result, seen } = yield* run(send(), () => answer)
        assert.strictEqual(reasonOf(result)?._tag, tag, JSON.stringify(answer))
        assert.match(detailOf(result), detail)
        assert.strictEqual(seen.length, attempts, JSON.stringify(answer))
      }
    })
  )

  it.effect("leaves no secret in its error", () =>
    Effect.gen(function* () {
      const { result, seen } = yield* run(send(), () => "no connection")
      const text = inspect(result, { depth: 20, showHidden: true })
      assert.notInclude(text, Redacted.value(identity.secretKey))
      assert.notInclude(text, seen[0]?.headers["authorization"] ?? "none")
    })
  )
})

describe("send", () => {
  it.effect("refuses what is too long before anything is sent, counting bytes", () =>
    Effect.gen(function* () {
      const { result, seen } = yield* run(send({ content: "ü".repeat(32_769) }), (request) => accepted(request))
      assert.deepStrictEqual(reasonOf(result), new MessageTooLong({ size: 65_538, limit: 65_536 }))
      assert.deepStrictEqual(seen, [])
      const fits = yield* run(send({ content: "ü".repeat(32_768) }), (request) => accepted(request))
      assert.strictEqual(fits.result._tag, "Success")
    })
  )

  it.effect("mentions by key only, never by the text", () =>
    Effect.gen(function* () {
      const { seen } = yield* run(send({ content: `@Ada nostr:npub1xyz ${ada}` }), (request) => accepted(request))
      assert.deepStrictEqual(
        seen.map((request) => eventOf(request).tags),
        [[["h", CHANNEL]]]
      )
    })
  )

  it.effect("reads the stored event back when somebody is mentioned, and takes each of them once", () =>
    Effect.gen(function* () {
      const { result, seen } = yield* run(send({ mentions: [ada, ada.toUpperCase()] }), (request, [first]) =>
        first === undefined ? accepted(request) : ok([eventOf(first)])
      )
      const event = Result.getOrThrow(result)
      assert.deepStrictEqual(event.tags, [
        ["h", CHANNEL],
        ["p", ada]
      ])
      assert.deepStrictEqual(
        seen.map(({ path }) => path),
        ["/events", "/query"]
      )
      assert.deepStrictEqual(filtersOf(lastOf(seen)), [{ ids: [event.id], limit: 1 }])
    })
  )

  it.effect("fails when the stored event lacks a mention, is another one, or is not there", () =>
    Effect.gen(function* () {
      for (const stored of [[], [signedBy(identity, { kind: 9, tags: [["h", CHANNEL]] })], [{ id: "forged" }]]) {
        const { result } = yield* run(send({ mentions: [ada] }), (request, before) =>
          before.length === 0 ? accepted(request) : ok(stored)
        )
        const reason = reasonOf(result)
        assert.strictEqual(reason?._tag, "MentionNotStored")
        assert.deepStrictEqual(reason?._tag === "MentionNotStored" ? reason.missing : [], [ada])
      }
    })
  )

  it.effect("refuses more mentions than the relay's own programs allow", () =>
    Effect.gen(function* () {
      const mentions = Array.from({ length: 51 }, (_, index) => String(index).padStart(64, "0"))
      const { result, seen } = yield* run(send({ mentions }), (request) => accepted(request))
      assert.match(detailOf(result), /over 50 mentions/)
      assert.deepStrictEqual(seen, [])
    })
  )

  it.effect("fails when the relay answers 200 and did not accept", () =>
    Effect.gen(function* () {
      const { result } = yield* run(send(), (request) => notAccepted(request, "invalid: whatever"))
      assert.strictEqual(reasonOf(result)?._tag, "RelayRefused")
      assert.strictEqual(detailOf(result), "invalid: whatever")
    })
  )

  it.effect("replies to a root with one tag, and to a reply by naming the root first", () =>
    Effect.gen(function* () {
      const root = signedBy(identity, { kind: 9, tags: [["h", CHANNEL]] })
      const reply = signedBy(identity, {
        kind: 9,
        tags: [
          ["h", CHANNEL],
          ["e", root.id, "", "reply"]
        ]
      })
      const deep = signedBy(identity, {
        kind: 9,
        tags: [
          ["h", CHANNEL],
          ["e", root.id, "", "root"],
          ["e", reply.id, "", "reply"]
        ]
      })
      for (const [parent, tags] of [
        [root, [["e", root.id, "", "reply"]]],
        [
          reply,
          [
            ["e", root.id, "", "root"],
            ["e", reply.id, "", "reply"]
          ]
        ],
        [
          deep,
          [
            ["e", root.id, "", "root"],
            ["e", deep.id, "", "reply"]
          ]
        ]
      ] as const) {
        const { seen } = yield* run(send({ replyTo: parent.id }), (request) =>
          request.path === "/query" ? ok([parent]) : accepted(request)
        )
        assert.deepStrictEqual(eventOf(lastOf(seen)).tags, [["h", CHANNEL], ...tags])
      }
      const orphan = yield* run(send({ replyTo: root.id }), () => ok([]))
      assert.match(detailOf(orphan.result), /parent event [0-9a-f]{64} not found/)
    })
  )
})
