import { CommandNotRun, EnvironmentError } from "@buzz-orchestra/runtime/EnvironmentError"
import { NodeServices } from "@effect/platform-node"
import { exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { bridgeRelay, isOnLoopback } from "../src/internal/bridgeRelay.ts"

const refusal = (detail: string) =>
  new EnvironmentError({
    operation: "EnvironmentService.bridge",
    reason: new CommandNotRun({ environment: "container x", action: "listen", detail })
  })

/** An environment in which these ports are held: the answer to the question who holds them. */
const holding = (stdout = "") =>
  Effect.provide(
    RecordingEnvironment.layer({ answers: [(command) => (isPorts(command) ? exited(0, { stdout }) : undefined)] }).pipe(
      Layer.provideMerge(NodeServices.layer)
    )
  )

/** As the kernel lists a socket that listens at port 3600 (0x0E10), and a process that has it. */
const HELD = [
  "   0: 0100007F:0E10 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1",
  "pid 77",
  "lrwx------ 1 0 0 64 Jan 1 00:00 3 -> socket:[4711]"
].join("\n")

const isPorts = (command: string) => command.startsWith("cat /proc/net/tcp")

/** How it fails when the environment refuses with these words. */
const failing = (detail: string) =>
  Effect.flip(
    bridgeRelay({ relayUrl: "ws://localhost:3600", userRelayUrl: undefined }, () => Effect.fail(refusal(detail)))
  )

describe("bridgeRelay", () => {
  it("is for relays that agents look for on their own loopback", () => {
    for (const url of [
      "ws://localhost:3600",
      "ws://127.0.0.1",
      "WS://LOCALHOST/",
      "ws://[::1]:7",
      "ws://127.1.2.3:1/x"
    ])
      assert.isTrue(isOnLoopback(url), url)
    for (const url of [
      "wss://localhost",
      "ws://localhost.example",
      "ws://10.0.0.1:3600",
      "ws://relay:3600",
      "ws://127.0.0.1.example"
    ])
      assert.isFalse(isOnLoopback(url), url)
  })

  it.effect("leads from the agents' address to the one that this machine knows", () =>
    Effect.gen(function* () {
      const asked: Array<readonly [string, string]> = []
      const bridge = (listen: string, target: string) => Effect.sync(() => void asked.push([listen, target]))
      yield* bridgeRelay({ relayUrl: "ws://localhost:3600", userRelayUrl: undefined }, bridge)
      yield* bridgeRelay({ relayUrl: "ws://localhost", userRelayUrl: "http://10.0.0.2:8080/" }, bridge)
      assert.deepStrictEqual(asked, [
        ["127.0.0.1:3600", "localhost:3600"],
        ["127.0.0.1:80", "10.0.0.2:8080"]
      ])
    }).pipe(Effect.scoped, holding())
  )

  it.effect("carries no TLS", () =>
    Effect.gen(function* () {
      const handle = { relayUrl: "ws://localhost", userRelayUrl: "https://relay.example" }
      const error = yield* Effect.flip(bridgeRelay(handle, () => Effect.void))
      assert.strictEqual(error._tag, "RelayUrlUnusable")
      assert.match(error.message, /cannot end TLS/)
    }).pipe(Effect.scoped, holding())
  )

  it.effect("says that the port is taken, and by whom, and else what was said", () =>
    Effect.gen(function* () {
      const error = yield* failing("listen EADDRINUSE: address already in use")
      assert.deepInclude(error, { _tag: "ForwarderPortBusy", listener: "bridge", owner: "process 77" })
      assert.match(error.message, /^the bridge to the relay could not bind 127\.0\.0\.1:3600: process 77 listens there/)
      assert.strictEqual((yield* failing("no nsenter"))._tag, "EnvironmentError")
    }).pipe(Effect.scoped, holding(HELD))
  )
})
