import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { parseRelayOptions } from "../src/RelayOptions.ts"

type Flags = Parameters<typeof parseRelayOptions>[0]

const none: Flags = {
  relay: "ws://team:3600",
  userRelay: undefined,
  dial: undefined,
  ca: undefined,
  client: "native",
  buzz: undefined
}
const options = (flags: Partial<Flags>) => Result.getOrThrow(parseRelayOptions({ ...none, ...flags }))
const detailOf = (flags: Partial<Flags>) => {
  const result = parseRelayOptions({ ...none, ...flags })
  return Result.isFailure(result) ? result.failure.detail : ""
}

describe("the options of a relay", () => {
  it("are none unless they are given", () => {
    assert.deepStrictEqual(options({}), {})
    assert.deepStrictEqual(options({ relay: undefined }), {})
    assert.deepStrictEqual(options({ dial: "ws://127.0.0.1:1", ca: "ca.pem" }), {
      dialUrl: "ws://127.0.0.1:1",
      caFile: "ca.pem"
    })
  })

  it("name the buzz program where it is asked for, by its path or from the PATH", () => {
    assert.deepStrictEqual(options({ client: "cli" }), { program: "buzz" })
    assert.deepStrictEqual(options({ client: "cli", buzz: "/opt/buzz", relay: undefined }), { program: "/opt/buzz" })
  })

  it("are refused where they say nothing, or two things", () => {
    assert.include(detailOf({ buzz: "/opt/buzz" }), "without --client cli")
    assert.include(detailOf({ relay: undefined, dial: "ws://127.0.0.1:1" }), "--relay-dial is given without --relay")
    assert.include(detailOf({ relay: undefined, ca: "ca.pem" }), "--relay-ca is given without --relay")
    assert.include(detailOf({ dial: "ws://127.0.0.1:1", userRelay: "ws://here:1" }), "together")
    assert.include(detailOf({ client: "cli", dial: "ws://127.0.0.1:1" }), "with --relay-dial")
    assert.include(detailOf({ client: "cli", ca: "ca.pem" }), "with --relay-ca")
  })
})
