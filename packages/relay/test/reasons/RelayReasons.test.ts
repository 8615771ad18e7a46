/** Reasons that the client gives by itself, before the relay is asked anything. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { testIdentity } from "../../src/testing/TestIdentity.ts"
import { ok, reasonOf, run } from "../ScriptedHttp.ts"

const actor = { relayUrl: "http://relay", identity: testIdentity(1) }
const CHANNEL = "99999999-8888-4777-8666-555555555555"

describe("a message", () => {
  it.effect("over the limit is refused by its bytes, and nothing is sent", () =>
    Effect.gen(function* () {
      const content = `${"é".repeat(32_768)}!`
      const { result, seen } = yield* run(
        (client) => client.send(actor, { channelId: CHANNEL, content }),
        () => ok({})
      )
      assert.deepInclude(reasonOf(result), { _tag: "MessageTooLong", size: 65_537, limit: 65_536 })
      assert.deepStrictEqual(seen, [])
    })
  )
})
