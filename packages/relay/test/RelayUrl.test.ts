import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as RelayUrl from "../src/RelayUrl.ts"

const get = (result: Result.Result<string, { readonly expected: string }>): string =>
  Result.isSuccess(result) ? result.success : `expected ${result.failure.expected}`

const ANY = "expected http://, https://, ws:// or wss://"

describe("RelayUrl", () => {
  it("shows a relay over HTTP and over WebSocket, keeping the spelling of the host", () => {
    for (const [url, http, ws] of [
      ["ws://localhost:3600", "http://localhost:3600", "ws://localhost:3600"],
      ["wss://Relay.Example/", "https://Relay.Example", "wss://Relay.Example"],
      ["http://127.0.0.1:80//", "http://127.0.0.1:80", "ws://127.0.0.1:80"],
      ["HTTPS://relay.example/nostr/", "https://relay.example/nostr", "wss://relay.example/nostr"],
      ["ws://[::1]:3000", "http://[::1]:3000", "ws://[::1]:3000"]
    ] as const) {
      assert.strictEqual(get(RelayUrl.toHttp(url)), http)
      assert.strictEqual(get(RelayUrl.toWs(url)), ws)
    }
  })

  it("refuses what is no relay", () => {
    for (const url of [
      "",
      "relay",
      "localhost:3600",
      "ftp://relay",
      "ws://",
      "ws://relay?x=1",
      "ws://relay#x",
      "/path"
    ]) {
      assert.strictEqual(get(RelayUrl.toHttp(url)), ANY, url)
      assert.strictEqual(get(RelayUrl.toWs(url)), ANY, url)
    }
  })

  it("refuses a name and a password in the URL without repeating them", () => {
    const result = RelayUrl.toWs("ws://user:hunter2@relay")
    assert.isTrue(Result.isFailure(result))
    assert.notInclude(JSON.stringify(result), "hunter2")
  })

  it("lets agents dial WebSocket only", () => {
    assert.strictEqual(get(RelayUrl.agentRelayUrl("ws://relay:1/")), "ws://relay:1")
    assert.strictEqual(get(RelayUrl.agentRelayUrl("wss://relay")), "wss://relay")
    assert.strictEqual(get(RelayUrl.agentRelayUrl("http://relay")), "expected ws:// or wss://")
  })

  it("prefers the host's view for the user", () => {
    const agents = "ws://host.docker.internal:3600"
    const of = (userRelayUrl: string | undefined, relayUrl = agents) =>
      get(RelayUrl.userRelayUrl({ relayUrl, userRelayUrl }))
    assert.strictEqual(of("http://localhost:3600"), "http://localhost:3600")
    assert.strictEqual(of("wss://relay.example"), "https://relay.example")
    assert.strictEqual(of(undefined), "http://host.docker.internal:3600")
    assert.strictEqual(of(undefined, "http://relay"), "expected ws:// or wss://")
  })

  it("gives the forwarder a host and a port to listen on", () => {
    for (const [url, authority] of [
      ["ws://localhost:3600", "127.0.0.1:3600"],
      ["ws://localhost", "127.0.0.1:80"],
      ["ws://relay:80/", "relay:80"],
      ["ws://localhost.example:1", "localhost.example:1"],
      ["ws://[::1]:3000", "[::1]:3000"],
      ["wss://relay", "expected ws://"],
      ["http://relay", "expected ws://"]
    ] as const) {
      assert.strictEqual(get(RelayUrl.authority(url)), authority, url)
    }
  })

  it("knows one relay under several spellings", () => {
    for (const same of ["ws://127.0.0.1:3000", "ws://localhost:3000/", "WS://LocalHost:3000"]) {
      assert.isTrue(RelayUrl.sameRelay("ws://localhost:3000", same), same)
    }
    assert.isTrue(RelayUrl.sameRelay("ws://relay:80", "ws://relay/"))
    for (const other of [
      "ws://localhost:3001",
      "wss://localhost:3000",
      "http://localhost:3000",
      "ws://localhost:3000/x"
    ]) {
      assert.isFalse(RelayUrl.sameRelay("ws://localhost:3000", other), other)
    }
  })
})
