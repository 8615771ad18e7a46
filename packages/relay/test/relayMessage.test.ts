import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Message from "../src/internal/relayMessage.ts"
import { signedBy, testIdentity } from "../src/testing/TestIdentity.ts"

const event = signedBy(testIdentity(1), { kind: 9 })

describe("relayMessage", () => {
  it("reads what relays say", () => {
    const cases: ReadonlyArray<readonly [ReadonlyArray<unknown>, Message.RelayMessage]> = [
      [["EVENT", "s", event], { _tag: "Event", subscription: "s", event }],
      [["EOSE", "s"], { _tag: "Eose", subscription: "s" }],
      [["OK", "id", true, "duplicate:"], { _tag: "Ok", eventId: "id", accepted: true, message: "duplicate:" }],
      [["OK", "id", false], { _tag: "Ok", eventId: "id", accepted: false, message: "" }],
      [["CLOSED", "s", "error: x"], { _tag: "Closed", subscription: "s", message: "error: x" }],
      [["CLOSED", "s"], { _tag: "Closed", subscription: "s", message: "" }],
      [["NOTICE", "hello"], { _tag: "Notice", message: "hello" }],
      [["AUTH", "challenge"], { _tag: "Auth", challenge: "challenge" }],
      [["EOSE", "s", "of a later version"], { _tag: "Eose", subscription: "s" }]
    ]
    for (const [frame, message] of cases) assert.deepStrictEqual(Message.parse(JSON.stringify(frame)), message)
  })

  it("takes nothing else for the protocol", () => {
    for (const frame of [
      "",
      "not json",
      "null",
      "{}",
      "[]",
      '["EVENT"]',
      '["EVENT","s"]',
      '["OK","id"]',
      '["OK","id","true",""]',
      '["EOSE",1]',
      '["COUNT","s",{}]',
      '["eose","s"]'
    ]) {
      assert.isUndefined(Message.parse(frame), frame)
    }
  })

  it.effect.prop("never throws", [Schema.String], ([frame]) =>
    Effect.sync(() => assert.isUndefined(Message.parse(frame)))
  )

  it("writes frames as NIP-01 has them", () => {
    assert.strictEqual(Message.encode(["REQ", "s", { kinds: [9] }]), '["REQ","s",{"kinds":[9]}]')
    assert.strictEqual(Message.encode(["CLOSE", "s"]), '["CLOSE","s"]')
    assert.strictEqual(Message.encode(["EVENT", event]), `["EVENT",${JSON.stringify(event)}]`)
  })
})
