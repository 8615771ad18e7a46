import { assert, describe, it } from "@effect/vitest"
import type { Way } from "../src/HostAccess.ts"
import { bindAddress, offeredAt, ofEmbedded, ofRunning } from "../src/RelayPlan.ts"

const SAME: Way = { _tag: "SameNetwork" }
const BRIDGE: Way = { _tag: "Bridge" }
const GATEWAY: Way = { _tag: "Gateway", name: "host.docker.internal", address: "172.17.0.1" }
/** As engines in a virtual machine have it. */
const VIRTUAL: Way = { _tag: "Gateway", name: "host.docker.internal", address: "127.0.0.1" }
const NONE: Way = { _tag: "None" }

describe("the embedded relay", () => {
  it("listens on the loopback, or at the one address under which the container sees this machine", () => {
    assert.deepStrictEqual([SAME, BRIDGE, GATEWAY, VIRTUAL, NONE].map(bindAddress), [
      "127.0.0.1",
      "127.0.0.1",
      "172.17.0.1",
      "127.0.0.1",
      "127.0.0.1"
    ])
  })

  it("has its own URL in the same network and over a bridge", () => {
    for (const way of [SAME, BRIDGE])
      assert.deepStrictEqual(ofEmbedded(way, 4000, true), { relayUrl: "ws://127.0.0.1:4000" })
  })

  it("has its own URL behind a gateway when the stack has a forwarder, and else the gateway's", () => {
    const userRelayUrl = "ws://172.17.0.1:4000"
    assert.deepStrictEqual(ofEmbedded(GATEWAY, 4000, true), {
      relayUrl: "ws://127.0.0.1:4000",
      userRelayUrl,
      relayGateway: "host.docker.internal:4000"
    })
    assert.deepStrictEqual(ofEmbedded(GATEWAY, 4000, false), {
      relayUrl: "ws://host.docker.internal:4000",
      userRelayUrl
    })
  })

  it("cannot be had where no way leads out", () => {
    assert.isUndefined(ofEmbedded(NONE, 4000, true))
  })
})

describe("a relay that runs already", () => {
  const relay = (url: string, userUrl?: string) => ({ _tag: "Running" as const, url, userUrl })

  it("is dialled as it was given, and through the gateway that was named", () => {
    assert.deepStrictEqual(ofRunning(relay("ws://localhost:3600"), undefined, GATEWAY, true), {
      relayUrl: "ws://localhost:3600"
    })
    assert.deepStrictEqual(ofRunning(relay("ws://relay", "http://here:1"), "172.17.0.1:3600", BRIDGE, false), {
      relayUrl: "ws://relay",
      userRelayUrl: "http://here:1",
      relayGateway: "172.17.0.1:3600"
    })
  })

  it("on the loopback of a machine whose engine is virtual is one forwarder away", () => {
    const through = (url: string, userUrl?: string, hasForwarder = true) =>
      ofRunning(relay(url, userUrl), undefined, VIRTUAL, hasForwarder).relayGateway
    assert.strictEqual(through("ws://localhost:3600"), "host.docker.internal:3600")
    assert.strictEqual(through("ws://localhost"), "host.docker.internal:80")
    assert.strictEqual(through("ws://localhost:3600", "http://127.0.0.1:4000"), "host.docker.internal:4000")
    assert.isUndefined(through("ws://localhost:3600", undefined, false))
    assert.isUndefined(through("wss://localhost:3600"))
    assert.isUndefined(through("ws://relay.example:3600"))
  })

  it("on the loopback of a machine that containers see through a gateway is offered there, for a forwarder", () => {
    const offered = (url: string, userUrl?: string, hasForwarder = true, way: Way = GATEWAY) =>
      offeredAt(relay(url, userUrl), undefined, way, hasForwarder)
    const at = (host: string, port: number) => ({ host: "172.17.0.1", target: { host, port } })
    assert.deepStrictEqual(offered("ws://localhost:3600"), at("localhost", 3600))
    assert.deepStrictEqual(offered("ws://[::1]"), at("::1", 80))
    assert.deepStrictEqual(offered("ws://localhost:3600", "http://127.0.0.1:4000"), at("127.0.0.1", 4000))
    for (const not of [
      offered("ws://localhost:3600", undefined, false),
      offered("ws://relay.example"),
      offered("wss://localhost"),
      offered("ws://localhost:3600", undefined, true, VIRTUAL),
      offered("ws://localhost:3600", undefined, true, BRIDGE),
      offeredAt(relay("ws://localhost:3600"), "given:1", GATEWAY, true)
    ])
      assert.isUndefined(not)
  })
})
