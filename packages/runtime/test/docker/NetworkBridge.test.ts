import { assert, describe, it } from "@effect/vitest"
import { parseAddress } from "@buzz-orchestra/runtime/docker/NetworkBridge"

describe("parseAddress", () => {
  it("reads names and addresses of both families", () => {
    assert.deepStrictEqual(parseAddress("localhost:3600"), { host: "localhost", port: 3600 })
    assert.deepStrictEqual(parseAddress("127.0.0.1:80"), { host: "127.0.0.1", port: 80 })
    assert.deepStrictEqual(parseAddress("[::1]:80"), { host: "::1", port: 80 })
  })

  it("takes nothing else for an address", () => {
    for (const text of ["", "localhost", ":80", "a:b", "::1:80", "ws://a:80", "a:80/", "a:123456", "a:65536", "a b:1"])
      assert.isUndefined(parseAddress(text), text)
  })
})
