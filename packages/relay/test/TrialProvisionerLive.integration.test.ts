import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { BuzzClient } from "../src/BuzzClient.ts"
import * as BuzzClientNative from "../src/BuzzClientNative.ts"
import { EmbeddedRelay } from "../src/server/EmbeddedRelay.ts"
import { RelayFaults } from "../src/testing/RelayFaults.ts"
import { testIdentity } from "../src/testing/TestIdentity.ts"
import { TrialHandleStore } from "../src/TrialHandleStore.ts"
import { type ProvisionRequest, TrialProvisioner } from "../src/TrialProvisioner.ts"
import * as TrialProvisionerLive from "../src/TrialProvisionerLive.ts"
import { manifest } from "./fixtures.ts"
import { bounded, platform, relay, relayWith } from "./support.ts"

const quick = {
  unreachable: { attempts: 6, baseMillis: 5, capMillis: 20 },
  rateLimited: { attempts: 7, baseMillis: 5, capMillis: 20 }
}
const over = <A, E, R>(embedded: Layer.Layer<A, E, R>) =>
  TrialProvisionerLive.layer.pipe(
    Layer.provideMerge(BuzzClientNative.layerWith({ retry: quick })),
    Layer.provide(TrialHandleStore.layerMemory),
    Layer.provideMerge(embedded),
    Layer.provideMerge(platform)
  )

const create = Effect.fnUntraced(function* (trialId: string, fields: Partial<ProvisionRequest> = {}) {
  const { url } = yield* EmbeddedRelay
  const provisioner = yield* TrialProvisioner
  return yield* provisioner.create({
    runId: "run",
    trialId,
    manifest: manifest({ id: "lead", kind: "orchestrator" }, { id: "worker", count: 3 }),
    manifestHash: "a".repeat(64),
    relayUrl: url,
    apiKeys: { model: undefined },
    ...fields
  })
})

it.live("keeps trials apart: their keys, their channels, what they can read", () =>
  Effect.gen(function* () {
    const client = yield* BuzzClient
    const [a, b] = yield* Effect.all([create("trial-a"), create("trial-b")], { concurrency: 2 })
    assert.notStrictEqual(a.channelId, b.channelId)
    const keysOf = (handle: typeof a) => [handle.user, ...handle.credentials].map(({ identity }) => identity.pubkey)
    assert.strictEqual(new Set([...keysOf(a), ...keysOf(b)]).size, 10)
    const userA = { relayUrl: a.relayUrl, identity: a.user.identity }
    const [leadB] = b.credentials
    assert.isDefined(leadB)
    yield* client.send(userA, { channelId: a.channelId, content: "for trial a" })
    const spy = { relayUrl: a.relayUrl, identity: leadB.identity }
    assert.deepStrictEqual(yield* client.readChannel(spy, a.channelId), [])
    assert.strictEqual((yield* client.members(userA, a.channelId)).length, 5)
  }).pipe(bounded, Effect.provide(over(relay)))
)

it.live("works on a closed relay with the owner's key, and a relay in trouble", () => {
  const owner = testIdentity(9)
  return Effect.gen(function* () {
    const refused = yield* Effect.flip(create("without"))
    assert.include(refused.message, "profile of user")
    const faults = yield* RelayFaults
    yield* faults.answerNext(3, { status: 503 })
    const handle = yield* create("with", { ownerKey: owner.secretKey })
    const provisioner = yield* TrialProvisioner
    yield* provisioner.healthcheck(handle.relayUrl)
    const steps = yield* provisioner.teardown(handle)
    assert.deepStrictEqual(
      steps.map(({ error }) => error),
      [undefined, undefined]
    )
    const client = yield* BuzzClient
    const user = { relayUrl: handle.relayUrl, identity: handle.user.identity }
    const late = yield* Effect.flip(client.send(user, { channelId: handle.channelId, content: "late" }))
    assert.include(late.message, "archived")
  }).pipe(bounded, Effect.provide(over(relayWith({ closed: { owner: owner.pubkey } }))))
})
