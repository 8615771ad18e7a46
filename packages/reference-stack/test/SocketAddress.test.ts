import { assert, describe, it } from "@effect/vitest"
import { parse } from "@buzz-orchestra/reference-stack/relay-forwarder/SocketAddress"

describe("SocketAddress", () => {
  it("reads names, IPv4 and bracketed IPv6", () => {
    assert.deepStrictEqual(parse("127.0.0.1:3600"), { host: "127.0.0.1", port: 3600 })
    assert.deepStrictEqual(parse("host.docker.internal:80"), { host: "host.docker.internal", port: 80 })
    assert.deepStrictEqual(parse("[::1]:0"), { host: "::1", port: 0 })
  })

  it("refuses everything else", () => {
    for (const text of [
      "",
      "localhost",
      ":80",
      "::1:80",
      "a b:80",
      "host:65536",
      "host:-1",
      "host:80x",
      "ws://host:80"
    ])
      assert.isUndefined(parse(text), text)
  })
})
