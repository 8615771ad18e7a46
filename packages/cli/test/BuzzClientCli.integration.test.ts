// @module-tag thorough
/** The client through the `buzz` program keeps the same contract as the native one, and the program's own. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as BuzzClientCli from "@buzz-orchestra/relay/BuzzClientCli"
import { tagValues } from "@buzz-orchestra/relay/NostrEvent"
import * as RetryPolicy from "@buzz-orchestra/relay/RetryPolicy"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import { testIdentity } from "@buzz-orchestra/relay/testing/TestIdentity"
import { assert, describe, it } from "@effect/vitest"
import { type Duration, Effect, Fiber, FileSystem, Layer, Redacted } from "effect"
import * as BuzzClientSuite from "../../relay/test/suites/BuzzClientSuite.ts"
import { bounded, platform, relay } from "../../relay/test/support.ts"
import { type BuzzCall, type Instead, inProcessBuzz } from "./InProcessBuzz.ts"

const quick: RetryPolicy.RetryPolicy = {
  unreachable: { attempts: 3, baseMillis: 1, capMillis: 2 },
  rateLimited: { attempts: 3, baseMillis: 1, capMillis: 2 }
}
const relayUrl = EmbeddedRelay.useSync(({ url }) => url)

BuzzClientSuite.suite(
  "the buzz program",
  BuzzClientCli.layerWith({ program: "buzz", retry: quick }).pipe(
    Layer.provide(inProcessBuzz().layer),
    Layer.provideMerge(relay),
    Layer.provideMerge(platform)
  ),
  relayUrl
)

const over = (instead?: Instead, timeout: Duration.Input = "10 seconds") => {
  const { layer, ...buzz } = inProcessBuzz(instead)
  return {
    ...buzz,
    services: BuzzClientCli.layerWith({ program: "/opt/bin/buzz", retry: quick, timeout }).pipe(
      Layer.provide(layer),
      Layer.provideMerge(relay),
      Layer.provideMerge(platform)
    )
  }
}

const opened = Effect.gen(function* () {
  const client = yield* BuzzClient
  const user = { relayUrl: yield* relayUrl, identity: testIdentity(1) }
  const channelId = yield* client.createChannel(user, { id: "unused", name: "trial", description: "run=1" })
  return { client, user, channelId, pubkey: user.identity.pubkey }
})

const called = (calls: ReadonlyArray<BuzzCall>, ...words: ReadonlyArray<string>) =>
  calls.filter(({ args }) => words.every((word, index) => args[index] === word))

const unavailable = { code: 2, stderr: '{"error":"relay_error","message":"relay error 503: busy","retryable":true}' }

describe("the buzz program", () => {
  it.live("gets secrets by environment alone, content by stdin, and no more of our environment than PATH", () => {
    const { calls, services } = over()
    return Effect.gen(function* () {
      const { client, user, channelId } = yield* opened
      yield* client.send(user, { channelId, content: "-- $(secret) 'text'" })
      const secret = Redacted.value(user.identity.secretKey)
      for (const { args, env, program } of calls) {
        assert.strictEqual(program, "/opt/bin/buzz")
        assert.notInclude(args.join(" "), secret)
        assert.notInclude(args.join(" "), "$(secret)")
        assert.sameMembers(Object.keys(env), ["BUZZ_RELAY_URL", "BUZZ_PRIVATE_KEY", "PATH"])
        assert.strictEqual(env["BUZZ_PRIVATE_KEY"], secret)
      }
    }).pipe(bounded, Effect.provide(services))
  })

  it.live("of an older build cannot mention by key, and nothing is sent with it", () => {
    const { calls, services } = over(({ args }) =>
      args.includes("--help") ? { code: 0, stdout: "Usage: buzz messages send --channel --content" } : undefined
    )
    return Effect.gen(function* () {
      const { channelId, client, pubkey, user } = yield* opened
      const error = yield* Effect.flip(client.send(user, { channelId, content: "@lead go", mentions: [pubkey] }))
      assert.strictEqual(error.reason._tag, "MentionsUnsupported")
      assert.lengthOf(called(calls, "messages", "send", "--channel"), 0)
      yield* client.send(user, { channelId, content: "nobody in particular" })
      assert.lengthOf(called(calls, "messages", "send", "--help"), 1)
    }).pipe(bounded, Effect.provide(services))
  })

  it.live("is called again when the failure may pass", () => {
    let failures = 0
    const { calls, services } = over(({ args }) =>
      args[1] === "add-member" && failures++ === 0 ? unavailable : undefined
    )
    return Effect.gen(function* () {
      const { channelId, client, user } = yield* opened
      const { pubkey } = testIdentity(2)
      yield* client.addMember(user, { channelId, pubkey, role: "member" })
      assert.lengthOf(called(calls, "channels", "add-member"), 2)
      const sent = yield* client.send(user, { channelId, content: "hello", mentions: [pubkey] })
      assert.deepStrictEqual(tagValues(sent, "p"), [pubkey])
      assert.strictEqual(sent.sig, BuzzClientCli.NO_SIGNATURE)
    }).pipe(bounded, Effect.provide(services))
  })

  it.live("does not send or create twice what the relay took although the answer was lost", () => {
    const lost = new Set(["messages send", "channels create"])
    const { calls, services } = over(({ args }) =>
      !args.includes("--help") && lost.delete(`${args[0]} ${args[1]}`) ? { but: unavailable } : undefined
    )
    return Effect.gen(function* () {
      const { channelId, client, user } = yield* opened
      assert.lengthOf(called(calls, "channels", "create"), 1)
      const first = yield* client.send(user, { channelId, content: "once" })
      assert.lengthOf(called(calls, "messages", "send", "--channel"), 1)
      const read = yield* client.readChannel(user, channelId)
      assert.deepStrictEqual(
        read.map(({ id }) => id),
        [first.id]
      )
    }).pipe(bounded, Effect.provide(services))
  })

  it.live("is ended when it takes too long, and when its caller stops", () => {
    const { killed, services } = over(({ args }) => (args[1] === "members" ? "hang" : undefined), "100 millis")
    return Effect.gen(function* () {
      const { channelId, client, user } = yield* opened
      const error = yield* Effect.flip(client.members(user, channelId))
      assert.deepInclude(error.reason, { _tag: "BuzzProgramFailed", detail: "no answer within 100ms" })
      assert.strictEqual(killed(), 1)
      const waiting = yield* Effect.forkChild(client.members(user, channelId), { startImmediately: true })
      yield* Fiber.interrupt(waiting)
      assert.strictEqual(killed(), 2)
    }).pipe(bounded, Effect.provide(services))
  })

  it.live("is a process that is gone when the call is, whatever it ignores", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const program = `${yield* fs.makeTempDirectoryScoped()}/buzz`
      // What is ignored stays so across exec.
      yield* fs.writeFileString(program, `#!/bin/sh\ntrap '' TERM\necho $$ > "$0.pid"\nexec sleep 600\n`, {
        mode: 0o755
      })
      const user = { relayUrl: "ws://127.0.0.1:1", identity: testIdentity(1) }
      yield* Effect.gen(function* () {
        const client = yield* BuzzClient
        const calling = yield* Effect.forkChild(client.members(user, "11111111-1111-4111-8111-111111111111"))
        while (!(yield* fs.exists(`${program}.pid`))) yield* Effect.sleep("20 millis")
        yield* Fiber.interrupt(calling)
      }).pipe(
        Effect.provide(BuzzClientCli.layerWith({ program, retry: quick }).pipe(Layer.provide(NodeServices.layer)))
      )
      const pid = Number(yield* fs.readFileString(`${program}.pid`))
      assert.throws(() => process.kill(pid, 0), /ESRCH/)
    }).pipe(Effect.scoped, bounded, Effect.provide(NodeServices.layer))
  )

  it.live("that is not there, or not this one, is told from a relay that refuses", () =>
    Effect.gen(function* () {
      const client = yield* BuzzClient
      const user = { relayUrl: "ws://127.0.0.1:1", identity: testIdentity(1) }
      const missing = yield* Effect.flip(client.members(user, "11111111-1111-4111-8111-111111111111"))
      assert.deepInclude(missing.reason, { _tag: "BuzzProgramFailed", program: "/nowhere/buzz" })
    }).pipe(
      bounded,
      Effect.provide(
        BuzzClientCli.layerWith({ program: "/nowhere/buzz", retry: quick }).pipe(Layer.provide(NodeServices.layer))
      )
    )
  )
})
