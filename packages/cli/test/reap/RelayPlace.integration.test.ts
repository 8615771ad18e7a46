/** Trials on a relay that outlive the command that made them: how they are remembered, and taken down. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as BuzzClientNative from "@buzz-orchestra/relay/BuzzClientNative"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import { testTrialHandle } from "@buzz-orchestra/relay/testing/TestTrialHandle"
import { TrialHandleStore } from "@buzz-orchestra/relay/TrialHandleStore"
import * as ProcessOwner from "@buzz-orchestra/runtime/ProcessOwner"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Layer, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { FetchHttpClient } from "effect/http"
import { createServer } from "node:http"
import type { PlaceReport } from "../../src/reap/Place.ts"
import { relayPlace } from "../../src/reap/RelayPlace.ts"
import * as SavedTrials from "../../src/SavedTrials.ts"

const relay = EmbeddedRelay.layer().pipe(
  Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
  Layer.provideMerge(
    Layer.mergeAll(NodeServices.layer, SchnorrWasm.layerStrict, SecureRandom.layerWebCrypto, FetchHttpClient.layer)
  )
)

/** A trial whose channel is on the relay and whose handle is saved, made by this process or by one that is gone. */
const saved = Effect.fnUntraced(function* (trialId: string, note: Partial<SavedTrials.SavedNote> = {}) {
  const client = yield* BuzzClient
  const { url } = yield* EmbeddedRelay
  const handle = testTrialHandle({
    trialId,
    relayUrl: url,
    channelId: yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  })
  const user = { relayUrl: url, identity: handle.user.identity }
  yield* client.createChannel(user, { id: handle.channelId, name: trialId })
  const owner = yield* ProcessOwner.current(handle)
  const store = SavedTrials.layer({ owner, relay: {}, keepsChannel: false, directory: "/trials/x", ...note })
  yield* TrialHandleStore.use((it) => it.put(handle)).pipe(Effect.provide(store))
  const isArchived = client.send(user, { channelId: handle.channelId, content: "anybody here?" }).pipe(
    Effect.as(false),
    Effect.catch((error) => Effect.succeed(error.message.includes("archived")))
  )
  return { handle, isArchived }
})

const dead = Effect.map(ProcessOwner.current({ runId: "run", trialId: "x" }), (owner) => ({
  ...owner,
  pidStartTime: "1"
}))

const names = (report: unknown) => {
  const { kept, refused, removed } = report as PlaceReport
  return [removed, kept, refused].map((things) => things.map(({ name }) => name))
}

const test = <A, E>(
  effect: Effect.Effect<
    A,
    E,
    BuzzClient | EmbeddedRelay | NodeServices.NodeServices | SecureRandom.SecureRandom | Scope.Scope
  >
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const state = yield* fs.makeTempDirectoryScoped()
    const variables = ConfigProvider.layer(ConfigProvider.fromUnknown({ XDG_STATE_HOME: state }))
    return yield* Effect.provide(effect, variables)
  }).pipe(
    Effect.scoped,
    Effect.timeout("20 seconds"),
    Effect.provide(BuzzClientNative.layer.pipe(Layer.provideMerge(relay)))
  )

describe("what a killed command left on a relay", () => {
  it.live("is found and taken down once; the living keep theirs, and a channel that is to stay stays", () =>
    test(
      Effect.gen(function* () {
        const orphan = yield* saved("orphan", { owner: yield* dead })
        const staying = yield* saved("staying", { owner: yield* dead, keepsChannel: true })
        const living = yield* saved("living")
        const ids = [orphan, living, staying].map(({ handle }) => handle.channelId)
        const kept = [living.handle.channelId, staying.handle.channelId]
        const dry = names(yield* relayPlace.reap(true))
        assert.deepStrictEqual([dry[0], dry[2]], [[ids[0]], []])
        assert.isFalse(yield* orphan.isArchived)
        const done = names(yield* relayPlace.reap(false))
        assert.deepStrictEqual(done, dry)
        assert.sameMembers(done[1] ?? [], kept)
        assert.deepStrictEqual(yield* Effect.forEach([orphan, living, staying], ({ isArchived }) => isArchived), [
          true,
          false,
          false
        ])
        assert.deepStrictEqual(names(yield* relayPlace.reap(false))[0], [])
      })
    )
  )

  it.live("stays remembered as long as the relay does not let it be taken down", () =>
    test(
      Effect.gen(function* () {
        const owner = yield* dead
        const { url } = yield* EmbeddedRelay
        // Of a channel that this relay does not know.
        const handle = testTrialHandle({ relayUrl: url })
        const store = SavedTrials.layer({ owner, relay: {}, keepsChannel: false, directory: "/trials/x" })
        yield* TrialHandleStore.use((it) => it.put(handle)).pipe(Effect.provide(store))
        const [removed, , refused] = names(yield* relayPlace.reap(false))
        assert.deepStrictEqual([removed, refused], [[], [handle.channelId]])
        assert.lengthOf(yield* SavedTrials.list, 1)
      })
    )
  )

  it.live("is nothing where nothing was saved", () =>
    test(
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* relayPlace.reap(false), { removed: [], kept: [], refused: [] })
      })
    )
  )
})
