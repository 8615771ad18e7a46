import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { BuzzClient } from "../src/BuzzClient.ts"
import { derive, type DirectoryEntry } from "../src/DirectoryIdentity.ts"
import * as OwnerAttestation from "../src/OwnerAttestation.ts"
import { pure, Schnorr } from "../src/Schnorr.ts"
import { testIdentity } from "../src/testing/TestIdentity.ts"
import { TestRelay } from "../src/testing/TestRelay.ts"
import { TrialHandleStore } from "../src/TrialHandleStore.ts"
import { type ProvisionRequest, TrialProvisioner } from "../src/TrialProvisioner.ts"
import * as TrialProvisionerLive from "../src/TrialProvisionerLive.ts"
import { manifest } from "./fixtures.ts"
import { ok, scripted } from "./ScriptedHttp.ts"

const owner = testIdentity(3)
const actor = { relayUrl: "http://relay:3600", identity: testIdentity(1) }

const services = TrialProvisionerLive.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(TestRelay.layer, TrialHandleStore.layerMemory)),
  Layer.provide(Layer.mergeAll(Schnorr.layerPure, SecureRandom.layerWebCrypto, scripted(() => ok("")).layer))
)

const request: ProvisionRequest = {
  runId: "run",
  trialId: "trial",
  manifest: manifest({ id: "lead", kind: "orchestrator" }),
  manifestHash: "a".repeat(64),
  relayUrl: "ws://relay:3600",
  apiKeys: { model: undefined }
}

const create = (fields: Partial<ProvisionRequest>, trialId = "trial") =>
  TrialProvisioner.use((provisioner) =>
    provisioner.create({ ...request, trialId, ownerKey: owner.secretKey, ...fields })
  )

const published = Effect.gen(function* () {
  const calls = yield* (yield* TestRelay).calls
  return calls.flatMap(({ actor, method }) => (method === "setProfile" ? [actor.identity.pubkey] : []))
})

const people = Array.from({ length: 6 }, (_, index): DirectoryEntry => ({
  name: index === 5 ? "Person 4" : `Person ${index}`,
  identityId: `benchmark-user-0${index}`,
  role: index === 0 ? "bot" : "user",
  isChannelMember: index < 2
}))

describe("the directory of a task", () => {
  it.effect("is published once for all trials; whoever has a profile keeps it", () =>
    Effect.gen(function* () {
      const client = yield* BuzzClient
      const known = derive(pure, owner.secretKey, "benchmark-user-02")
      yield* client.setProfile({ ...actor, identity: known }, { name: "Known already" })
      const handle = yield* create({ directory: people })
      const pubkeys = handle.directory?.map(({ identity }) => identity.pubkey) ?? []
      assert.strictEqual(new Set(pubkeys).size, 6)
      const first = (yield* published).filter((pubkey) => pubkeys.includes(pubkey))
      assert.lengthOf(first, 6)
      assert.strictEqual((yield* (yield* TestRelay).names).get(known.pubkey), "Known already")
      const again = yield* create({ directory: people }, "another")
      assert.deepStrictEqual(
        again.directory?.map(({ identity }) => identity.pubkey),
        pubkeys
      )
      assert.deepStrictEqual(
        (yield* published).filter((pubkey) => pubkeys.includes(pubkey)),
        first
      )
    }).pipe(Effect.provide(services))
  )

  it.effect("says anew what this task says of somebody", () =>
    Effect.gen(function* () {
      const entry: DirectoryEntry = { name: "Ada", role: "user", about: "knows the schema" }
      const handle = yield* create({ directory: [entry] })
      yield* create({ directory: [entry] }, "another")
      const pubkey = handle.directory?.[0]?.identity.pubkey
      assert.lengthOf(
        (yield* published).filter((one) => one === pubkey),
        2
      )
    }).pipe(Effect.provide(services))
  )

  it.effect("has the members it names in the channel, bots as bots, all attested", () =>
    Effect.gen(function* () {
      const client = yield* BuzzClient
      const handle = yield* create({ directory: people })
      const [bot, person, outsider] = handle.directory ?? []
      const members = yield* client.members({ ...actor, identity: handle.user.identity }, handle.channelId)
      const roleOf = (pubkey: string | undefined) => members.find((member) => member.pubkey === pubkey)?.role
      assert.deepStrictEqual(
        [bot, person, outsider].map((one) => roleOf(one?.identity.pubkey)),
        ["bot", "member", undefined]
      )
      for (const { identity } of handle.directory ?? []) {
        const tag = identity.authTag === undefined ? "" : Redacted.value(identity.authTag)
        assert.strictEqual(OwnerAttestation.verify(pure, tag, identity.pubkey)._tag, "Success")
      }
    }).pipe(Effect.provide(services))
  )

  it.effect("cannot be without the key of the relay's owner", () =>
    Effect.gen(function* () {
      const provisioner = yield* TrialProvisioner
      const error = yield* Effect.flip(provisioner.create({ ...request, directory: people }))
      assert.include(error.message, "directory: not a key: expected the key of the relay's owner")
      assert.deepStrictEqual(yield* (yield* TestRelay).calls, [])
    }).pipe(Effect.provide(services))
  )
})

describe("the user of a trial", () => {
  it.effect("that the task names is the same in all its trials, before any pinned one", () =>
    Effect.gen(function* () {
      const fields = {
        taskUser: { taskName: "user-mention", name: "Three Word Name" },
        user: { name: "Ada", identity: testIdentity(1) }
      }
      const handle = yield* create(fields)
      const again = yield* create(fields, "another")
      assert.match(handle.user.identity.pubkey, /^0725089e19ad47c7/)
      assert.strictEqual(handle.user.name, "Three Word Name")
      assert.strictEqual(again.user.identity.pubkey, handle.user.identity.pubkey)
    }).pipe(Effect.provide(services))
  )

  it.effect("that exists already keeps its name, and gets the owner's attestation into its profile", () =>
    Effect.gen(function* () {
      const client = yield* BuzzClient
      const user = { name: "user", identity: testIdentity(1) }
      yield* client.setProfile(actor, { name: "Ada" })
      yield* create({ user })
      assert.strictEqual((yield* (yield* TestRelay).names).get(user.identity.pubkey), "Ada")
      const ofUser = (yield* published).filter((pubkey) => pubkey === user.identity.pubkey)
      assert.lengthOf(ofUser, 2)
    }).pipe(Effect.provide(services))
  )
})
