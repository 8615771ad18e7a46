import { assert, describe, it } from "@effect/vitest"
import * as Nip42 from "../../src/Nip42.ts"
import * as Nip98 from "../../src/Nip98.ts"
import * as Bridge from "../../src/server/Bridge.ts"
import * as Hosts from "../../src/server/Hosts.ts"
import * as Session from "../../src/server/Session.ts"
import { CHALLENGE, NOW, person, RuledRelay, toySchnorr } from "./support.ts"

const urls = ["ws://127.0.0.1:3000", "wss://team.example", "ws://localhost:3600"] as const

describe("Hosts", () => {
  it.each([
    ["127.0.0.1:3000", ["ws://127.0.0.1:3000"]],
    ["TEAM.example", ["wss://team.example"]],
    ["team.example:443", ["wss://team.example"]],
    ["localhost:3600", ["ws://localhost:3600"]],
    ["localhost:3000", []],
    ["team.example:80", []],
    ["elsewhere", []],
    ["", []],
    [undefined, []]
  ])("of a relay bound to its hosts, %s names %j", (host, expected) => {
    assert.deepStrictEqual(Hosts.urlsFor({ urls, isHostBound: true }, host), expected)
    const unbound = Hosts.urlsFor({ urls, isHostBound: false }, host)
    assert.deepStrictEqual(unbound.slice(0, expected.length), expected)
    assert.deepStrictEqual(unbound.toSorted(), urls.toSorted())
  })

  it("serves a tenant by the URL that the client dialled, and nobody by another tenant's", () => {
    const relay = new RuledRelay({ urls, isHostBound: true })
    let nonce = 0
    const ask = (host: string, signedFor: string) => {
      const body = new TextEncoder().encode("[]")
      const url = `${signedFor}/query`
      const signed = { url, method: "POST", body, now: NOW, nonce: String(++nonce) }
      const authorization = Nip98.authorizationHeader(toySchnorr, person("ada"), signed)
      const request = { path: "/query", host, authorization, authTag: undefined, body } as const
      return Bridge.answer(relay.state, relay.rules, request, NOW).response
    }
    assert.deepStrictEqual(ask("team.example", "https://team.example"), { status: 200, body: [] })
    assert.strictEqual(ask("team.example", "http://127.0.0.1:3000").status, 401)
    for (const [dialled, signed, isPassed] of [
      ["ws://localhost:3600", "ws://localhost:3600", true],
      ["wss://team.example", "ws://localhost:3600", false]
    ] as const) {
      const [state] = Session.open(relay.state, 1, { challenge: CHALLENGE, urls: [dialled] })
      const claim = Nip42.authEvent(toySchnorr, person("ada"), { relayUrl: signed, challenge: CHALLENGE, now: NOW })
      const [, [answer]] = Session.receive(state, relay.rules, { id: 1, text: JSON.stringify(["AUTH", claim]) }, NOW)
      assert.include(answer?.frames[0], `["OK","${claim.id}",${isPassed}`)
    }
    assert.deepStrictEqual(ask("elsewhere", "https://team.example"), { status: 404, body: { error: "unknown host" } })
  })
})
