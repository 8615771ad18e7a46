/** `watch` over a real relay: by a key, and by a trial that is saved and writes its bundle here. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as BuzzClientNative from "@buzz-orchestra/relay/BuzzClientNative"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import { testTrialHandle } from "@buzz-orchestra/relay/testing/TestTrialHandle"
import { TrialHandleStore } from "@buzz-orchestra/relay/TrialHandleStore"
import { BUNDLE, EVENTS } from "@buzz-orchestra/runtime/BundleFiles"
import { eventLine } from "@buzz-orchestra/runtime/EventLine"
import * as ProcessOwner from "@buzz-orchestra/runtime/ProcessOwner"
import type { AgentView } from "@buzz-orchestra/runtime/TrialEvent"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, FileSystem, Layer, Redacted, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { FetchHttpClient } from "effect/http"
import { createServer } from "node:http"
import * as SavedTrials from "../src/SavedTrials.ts"
import { execute } from "../src/Watching.ts"
import * as TestOutput from "./TestOutput.ts"

const services = BuzzClientNative.layer.pipe(
  Layer.provideMerge(
    EmbeddedRelay.layer().pipe(Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })))
  ),
  Layer.provideMerge(
    Layer.mergeAll(
      NodeServices.layer,
      SchnorrWasm.layerStrict,
      SecureRandom.layerWebCrypto,
      FetchHttpClient.layer,
      TestOutput.layer(false)
    )
  )
)

/** A trial of a lead and a worker, in its channel on the relay. */
const trial = Effect.gen(function* () {
  const client = yield* BuzzClient
  const { url } = yield* EmbeddedRelay
  const channelId = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  const handle = testTrialHandle({ trialId: "trial-1", relayUrl: url, channelId })
  const [lead, worker] = handle.credentials.map(({ identity }) => ({ relayUrl: url, identity }))
  if (lead === undefined || worker === undefined) return yield* Effect.die("a team of two was expected")
  const user = { relayUrl: url, identity: handle.user.identity }
  yield* client.createChannel(user, { id: channelId, name: "trial" })
  for (const { identity } of [lead, worker])
    yield* client.addMember(user, { channelId, pubkey: identity.pubkey, role: "member" })
  return { client, handle, user, lead, worker, channelId, url }
})

const written = (text: string) =>
  Effect.gen(function* () {
    const { stdout } = yield* TestOutput.Written
    while (!(yield* stdout).includes(text)) yield* Effect.sleep("20 millis")
    return (yield* stdout).split("\n").map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, ""))
  }).pipe(Effect.timeout("10 seconds"))

const test = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof services> | Scope.Scope>) =>
  effect.pipe(Effect.scoped, Effect.timeout("20 seconds"), Effect.provide(services))

const byKey = (relay: string, channel: string) => ({
  trial: undefined,
  relay,
  channel,
  keyVariable: "WATCH_KEY",
  options: {}
})

describe("watch", () => {
  it.live("shows who speaks to whom and in answer to what, with names, until the channel is archived", () =>
    test(
      Effect.gen(function* () {
        const { channelId, client, lead, url, user, worker } = yield* trial
        yield* client.setProfile(lead, { name: "lead-1" })
        const variables = { WATCH_KEY: Redacted.value(user.identity.secretKey) }
        const watching = yield* Effect.forkScoped(
          execute(byKey(url, channelId), false).pipe(
            Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(variables)))
          )
        )
        const task = yield* client.send(user, { channelId, content: "the\ntask", mentions: [lead.identity.pubkey] })
        yield* client.send(lead, { channelId, content: "on it", replyTo: task.id, mentions: [worker.identity.pubkey] })
        yield* client.archiveChannel(user, channelId)
        yield* Fiber.join(watching)
        const lines = yield* written("on it")
        const short = (who: typeof user) => who.identity.pubkey.slice(0, 8)
        const leadName = `lead-1 (${short(lead)})`
        const said = lines.filter((line) => /task|on it/.test(line))
        assert.deepStrictEqual(said, [
          `${short(user)} → ${leadName}: the task`,
          `${leadName} → ${short(worker)} (to ${short(user)}: “the task”): on it`
        ])
        assert.include(lines.join("\n"), "channel archived")
      })
    )
  )

  it.live("of a saved trial speaks as its user, knows its agents, and shows what they do until it ends", () =>
    test(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { channelId, client, handle, lead } = yield* trial
        const directory = yield* fs.makeTempDirectoryScoped()
        const variables = ConfigProvider.layer(ConfigProvider.fromUnknown({ XDG_STATE_HOME: `${directory}/state` }))
        yield* Effect.gen(function* () {
          const owner = yield* ProcessOwner.current(handle)
          const store = SavedTrials.layer({ owner, relay: {}, keepsChannel: false, directory })
          yield* TrialHandleStore.use((it) => it.put(handle)).pipe(Effect.provide(store))
          const names = { runId: handle.runId, trialId: handle.trialId }
          const state = (view: AgentView) =>
            eventLine({ _tag: "AgentChanged", at: 1_800_000_000_000, ...names, agentId: "lead-1", view }, 1)
          const file = `${directory}/${EVENTS}`
          yield* fs.makeDirectory(`${directory}/${BUNDLE}`, { recursive: true })
          const starting = state({ _tag: "Starting" })
          yield* fs.writeFileString(file, `${starting}\n${state({ _tag: "Ready" })}\nbroken\n`)
          const request = { trial: "trial", relay: undefined, channel: undefined, keyVariable: undefined, options: {} }
          const watching = yield* Effect.forkScoped(execute(request, false))
          yield* client.send(lead, { channelId, content: "hello", mentions: [handle.user.identity.pubkey] })
          assert.include(yield* written("hello"), "lead-1 → user: hello")
          yield* written("lead-1 ready")
          const inTurn = state({ _tag: "InTurn", turn: 1, sinceMillis: 0 })
          yield* fs.writeFileString(file, `${inTurn}\n`, { flag: "a" })
          yield* written("lead-1 in turn 1")
          const ended = eventLine(
            { _tag: "TrialEnded", at: 1_800_000_000_000, ...names, outcome: "done", error: undefined },
            2
          )
          yield* fs.writeFileString(file, `${ended}\n`, { flag: "a" })
          yield* Fiber.join(watching)
          const lines = yield* written("the trial ended: done")
          assert.notInclude(lines, "lead-1 starting")
        }).pipe(Effect.provide(variables))
      })
    )
  )

  it.live("needs one trial, or a relay, a channel and a key", () =>
    test(
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const state = yield* fs.makeTempDirectoryScoped()
        const refusal = (request: Partial<Parameters<typeof execute>[0]>) =>
          execute(
            { trial: undefined, relay: undefined, channel: undefined, keyVariable: undefined, options: {}, ...request },
            false
          ).pipe(
            Effect.flip,
            Effect.map(({ reason }) => ("detail" in reason ? reason.detail : reason._tag)),
            Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ XDG_STATE_HOME: state, BAD: "x" })))
          )
        assert.include(yield* refusal({}), "0 trials are saved here")
        assert.include(yield* refusal({ trial: "x" }), "0 saved trials are called x")
        assert.include(yield* refusal({ trial: "x", relay: "ws://x" }), "together with")
        assert.include(yield* refusal({ relay: "ws://x" }), "only together")
        const key = { relay: "ws://x", channel: "c" }
        assert.include(yield* refusal({ ...key, keyVariable: "NONE" }), "SecretVariableMissing")
        assert.include(yield* refusal({ ...key, keyVariable: "BAD" }), "SecretVariableInvalid")
      })
    )
  )
})
