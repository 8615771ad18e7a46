import { assert, describe, it } from "@effect/vitest"
import type { Identity } from "../../src/Identity.ts"
import * as Nip98 from "../../src/Nip98.ts"
import * as OwnerAttestation from "../../src/OwnerAttestation.ts"
import * as Bridge from "../../src/server/Bridge.ts"
import { CHANNEL, createChannel, message, NOW, person, RuledRelay, sign, toySchnorr } from "./support.ts"

const ada = person("ada")
const bob = person("bob")
const eve = person("eve")

let nonce = 0

const authorization = (
  who: Identity,
  path: string,
  body: string,
  changed: { url?: string; now?: number; method?: string } = {}
) =>
  Nip98.authorizationHeader(toySchnorr, who, {
    url: `http://127.0.0.1:3000${path}`,
    method: "POST",
    body,
    now: NOW,
    nonce: String(nonce++),
    ...changed
  })

const post = (relay: RuledRelay, path: Bridge.Path, body: string, header: string | undefined, authTag?: string) => {
  const request = { path, host: undefined, authorization: header, authTag, body: new TextEncoder().encode(body) }
  const answered = Bridge.answer(relay.state, relay.rules, request, relay.now)
  relay.state = answered.state
  return answered.response
}

const send = (relay: RuledRelay, who: Identity, path: Bridge.Path, value: unknown, authTag?: string) => {
  const body = JSON.stringify(value)
  return post(relay, path, body, authorization(who, path, body), authTag)
}

const error = (status: number, text: string) => ({ status, body: { error: text } })

const authTag = (owner: Identity, agent: Identity) => OwnerAttestation.attest(toySchnorr, owner.secretKey, agent.pubkey)

describe("Bridge", () => {
  it("publishes, queries and counts", () => {
    const relay = new RuledRelay()
    const channel = sign(ada, createChannel(CHANNEL))
    assert.deepStrictEqual(send(relay, ada, "/events", channel), {
      status: 200,
      body: { event_id: channel.id, accepted: true, message: "" }
    })
    const event = sign(ada, message("hi"))
    send(relay, ada, "/events", event)
    const filters = [{ kinds: [9], "#h": [CHANNEL] }]
    assert.deepStrictEqual(send(relay, ada, "/query", filters), { status: 200, body: [event] })
    assert.deepStrictEqual(send(relay, ada, "/count", filters), { status: 200, body: { count: 1 } })
    assert.deepStrictEqual(send(relay, eve, "/query", filters), { status: 200, body: [] })
    assert.deepStrictEqual(send(relay, ada, "/query", []), { status: 200, body: [] })
  })

  it("tells refusals with the status that clients map to exit codes", () => {
    const relay = new RuledRelay()
    send(relay, ada, "/events", sign(ada, createChannel(CHANNEL)))
    assert.deepStrictEqual(
      send(relay, eve, "/events", sign(eve, message("hi"))),
      error(400, "restricted: not a channel member")
    )
    assert.deepStrictEqual(
      send(relay, eve, "/events", sign(ada, message("hi"))),
      error(403, "invalid: event pubkey does not match authenticated identity")
    )
    const again = sign(bob, createChannel(CHANNEL))
    assert.deepStrictEqual(send(relay, bob, "/events", again), {
      status: 200,
      body: { event_id: again.id, accepted: false, message: "duplicate: channel already exists" }
    })
  })

  it("refuses wrong authorisations with 401", () => {
    const relay = new RuledRelay()
    const body = "[]"
    const failed = "NIP-98: NIP-98 HTTP Auth verification failed"
    const cases: ReadonlyArray<readonly [string | undefined, string]> = [
      [undefined, "missing Nostr auth"],
      ["nostr abc", "missing Nostr auth"],
      ["Nostr !", "invalid base64 in Nostr auth"],
      [`Nostr ${btoa("{}")}`, "invalid NIP-98 event JSON"],
      [
        authorization(ada, "/query", body, { now: NOW - 61 }),
        `${failed}: event timestamp outside ±60s window (delta: 61s)`
      ],
      [
        authorization(ada, "/count", body),
        `${failed}: URL mismatch: event has \`http://127.0.0.1:3000/count\`, expected \`http://127.0.0.1:3000/query\``
      ],
      [
        authorization(ada, "/query", body, { method: "GET" }),
        `${failed}: method mismatch: event has \`GET\`, expected \`POST\``
      ],
      [
        authorization(ada, "/query", "[{}]"),
        `${failed}: payload tag SHA-256 mismatch: request body does not match signed hash`
      ]
    ]
    for (const [header, text] of cases) assert.deepStrictEqual(post(relay, "/query", body, header), error(401, text))
  })

  it("accepts an authorisation once", () => {
    const relay = new RuledRelay()
    const header = authorization(ada, "/query", "[]")
    assert.deepStrictEqual(post(relay, "/query", "[]", header), { status: 200, body: [] })
    assert.deepStrictEqual(post(relay, "/query", "[]", header), error(401, "NIP-98: replay detected"))
  })

  it("answers to each of its URLs, and localhost is 127.0.0.1", () => {
    const relay = new RuledRelay({ urls: ["ws://127.0.0.1:3000", "wss://relay.example"] })
    for (const url of ["http://localhost:3000/query", "https://relay.example/query/", "HTTPS://Relay.Example/query"])
      assert.strictEqual(post(relay, "/query", "[]", authorization(ada, "/query", "[]", { url })).status, 200)
    assert.strictEqual(
      post(relay, "/query", "[]", authorization(ada, "/query", "[]", { url: "http://relay.example/query" })).status,
      401
    )
  })

  it("looks at the body last", () => {
    const relay = new RuledRelay({ closedTo: ada.pubkey })
    assert.strictEqual(post(relay, "/query", "{", "Nostr !").status, 401)
    assert.deepStrictEqual(post(relay, "/query", "{", authorization(eve, "/query", "{")), {
      status: 403,
      body: { error: "relay_membership_required", message: "You must be a relay member to access this relay" }
    })
    const mine = post(relay, "/query", "{", authorization(ada, "/query", "{"))
    assert.deepStrictEqual(mine, error(400, "invalid filters: the body is not JSON"))
  })

  it("closed, lets in whom its owner attested, by the x-auth-tag header", () => {
    const relay = new RuledRelay({ closedTo: ada.pubkey })
    assert.strictEqual(send(relay, bob, "/query", [], authTag(ada, bob)).status, 200)
    assert.strictEqual(send(relay, bob, "/query", [], authTag(ada, eve)).status, 403)
    assert.strictEqual(send(relay, bob, "/query", [], authTag(eve, bob)).status, 403)
    assert.strictEqual(send(relay, bob, "/query", [], "nonsense").status, 403)
    assert.strictEqual(send(new RuledRelay(), bob, "/query", [], "nonsense").status, 200)
  })

  it("says what is wrong with a body", () => {
    const relay = new RuledRelay()
    const text = (path: Bridge.Path, value: unknown) => {
      const { body, status } = send(relay, ada, path, value)
      return [status, (body as { error: string }).error] as const
    }
    assert.match(text("/events", { id: "1" })[1], /^invalid event JSON: /)
    assert.match(text("/query", { kinds: [9] })[1], /^invalid filters: /)
    assert.match(text("/query", [{ ids: ["abc"] }])[1], /^invalid filters: ids/)
    assert.deepStrictEqual(text("/query", [{ kinds: [9], before_id: "a".repeat(64) }]), [
      400,
      "before_id requires until to be set"
    ])
    assert.deepStrictEqual(text("/query", [{ "#h": [CHANNEL] }]), [
      403,
      "restricted: p-gated kinds require #p tag matching your pubkey"
    ])
    assert.deepStrictEqual(text("/count", [{ kinds: [30_174] }]), [
      403,
      "restricted: agent-engram reads require authors=[self] or #p=[self]"
    ])
  })
})
