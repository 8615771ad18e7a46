import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { BuzzClient } from "../src/BuzzClient.ts"
import * as Identity from "../src/Identity.ts"
import * as OwnerAttestation from "../src/OwnerAttestation.ts"
import { RelayRefused, RelayUnreachable } from "../src/RelayError.ts"
import { pure, Schnorr } from "../src/Schnorr.ts"
import { testIdentity } from "../src/testing/TestIdentity.ts"
import { TestRelay } from "../src/testing/TestRelay.ts"
import type { TrialHandle } from "../src/TrialHandle.ts"
import { TrialHandleStore } from "../src/TrialHandleStore.ts"
import { ArchiveOnTeardown, type ProvisionRequest, TrialProvisioner } from "../src/TrialProvisioner.ts"
import * as TrialProvisionerLive from "../src/TrialProvisionerLive.ts"
import { manifest } from "./fixtures.ts"
import { ok, scripted, type Respond } from "./ScriptedHttp.ts"

const key = Redacted.make("sk-model")
const request: ProvisionRequest = {
  runId: "run",
  trialId: "0123456789abcdef",
  manifest: manifest({ id: "worker", count: 2 }, { id: "lead", kind: "orchestrator", role: "lead" }),
  manifestHash: "a".repeat(64),
  relayUrl: "ws://host.docker.internal:3600/",
  userRelayUrl: "http://localhost:3600",
  apiKeys: { model: key }
}
const gone = new RelayUnreachable({ url: "http://localhost:3600", detail: "gone" })

const servicesWith = (store: Layer.Layer<TrialHandleStore>, respond: Respond) =>
  TrialProvisionerLive.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(TestRelay.layer, store)),
    Layer.provide(Layer.mergeAll(Schnorr.layerPure, SecureRandom.layerWebCrypto, scripted(respond).layer))
  )
const services = servicesWith(TrialHandleStore.layerMemory, () => ok({ status: "ready" }))

const create = (fields: Partial<ProvisionRequest> = {}) =>
  TrialProvisioner.use((provisioner) => provisioner.create({ ...request, ...fields }))
const rolesIn = (handle: TrialHandle) =>
  BuzzClient.use((client) =>
    client.members({ relayUrl: "http://localhost:3600", identity: handle.user.identity }, handle.channelId)
  )
const channelsLeft = Effect.gen(function* () {
  const relay = yield* TestRelay
  const ids = new Set((yield* relay.calls).map(({ argument }) => (argument as { readonly id?: string }).id))
  const states = yield* Effect.forEach(
    [...ids].filter((id) => id !== undefined),
    relay.channel
  )
  return states.filter((state) => state === "open").length
})

describe("create", () => {
  it.effect("makes fresh keys for everybody, the orchestrator first, and a channel with all of them", () =>
    Effect.gen(function* () {
      const handle = yield* create()
      assert.deepStrictEqual(
        handle.credentials.map(({ agentId, kind, role, endpoint }) => [agentId, kind, role, endpoint]),
        [
          ["lead-1", "orchestrator", "lead", "model"],
          ["worker-1", "worker", "worker", "model"],
          ["worker-2", "worker", "worker", "model"]
        ]
      )
      const keys = [handle.user, ...handle.credentials].map(({ identity }) => identity.pubkey)
      assert.strictEqual(new Set(keys).size, 4)
      assert.strictEqual(handle.relayUrl, "ws://host.docker.internal:3600")
      assert.strictEqual(handle.user.name, "user")
      assert.strictEqual(handle.credentials[0]?.apiKey, key)
      assert.sameDeepMembers(
        [...(yield* rolesIn(handle))],
        keys.map((pubkey, index) => ({ pubkey, role: index === 0 ? "owner" : "member" }))
      )
      const names = yield* (yield* TestRelay).names
      assert.deepStrictEqual(
        keys.map((pubkey) => names.get(pubkey)),
        ["user", "lead-1", "worker-1", "worker-2"]
      )
    }).pipe(Effect.provide(services))
  )

  it.effect("speaks to the relay as the user sees it, and each agent introduces itself before it is invited", () =>
    Effect.gen(function* () {
      const handle = yield* create()
      const calls = yield* (yield* TestRelay).calls
      assert.isTrue(calls.every(({ actor }) => actor.relayUrl === "http://localhost:3600"))
      const of = (pubkey: string) =>
        calls.flatMap(({ method, actor, argument }) => {
          const { pubkey: member } = argument as { readonly pubkey?: string }
          return actor.identity.pubkey === pubkey || member === pubkey ? [method] : []
        })
      for (const { identity } of handle.credentials) {
        assert.deepStrictEqual(of(identity.pubkey), ["setProfile", "addMember"])
      }
      assert.deepStrictEqual(of(handle.user.identity.pubkey).slice(0, 2), ["setProfile", "createChannel"])
    }).pipe(Effect.provide(services))
  )

  it.effect("names the channel after the task", () =>
    Effect.gen(function* () {
      const handle = yield* create({ channelLabel: "hello-world" })
      const call = (yield* (yield* TestRelay).calls).find(({ method }) => method === "createChannel")
      assert.deepStrictEqual(call?.argument, {
        id: handle.channelId,
        name: "hello-world-01234567",
        description: `run=run trial=0123456789abcdef manifest=${"a".repeat(64)}`
      })
    }).pipe(Effect.provide(services))
  )

  it.effect("lets an owner attest every key, a pinned user's included", () =>
    Effect.gen(function* () {
      const owner = testIdentity(9)
      const user = { name: "Ada", identity: testIdentity(1) }
      const handle = yield* create({ ownerKey: Identity.nsec(owner), user })
      assert.strictEqual(handle.user.name, "Ada")
      assert.strictEqual(handle.user.identity.pubkey, user.identity.pubkey)
      for (const { identity } of [handle.user, ...handle.credentials]) {
        const tag = identity.authTag === undefined ? "" : Redacted.value(identity.authTag)
        assert.deepStrictEqual(
          OwnerAttestation.verify(pure, tag, identity.pubkey),
          Result.succeed({ owner: owner.pubkey, conditions: "" })
        )
      }
    }).pipe(Effect.provide(services))
  )

  it.effect("refuses an owner key that is none before it touches the relay", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(create({ ownerKey: Redacted.make("nonsense") }))
      assert.include(error.message, "owner key: not a key")
      assert.deepStrictEqual(yield* (yield* TestRelay).calls, [])
    }).pipe(Effect.provide(services))
  )

  it.effect("asks for an API key for every endpoint, unless told that it needs none", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(create({ apiKeys: { other: key } }))
      assert.strictEqual(error.reason._tag, "ApiKeyMissing")
      assert.include(error.message, "no API key for endpoint model")
      const handle = yield* create({ apiKeys: { model: undefined } })
      assert.isUndefined(handle.credentials[0]?.apiKey)
    }).pipe(Effect.provide(services))
  )

  it.effect("refuses a relay that agents cannot dial", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(create({ relayUrl: "http://relay" }))
      assert.include(error.message, "ws:// or wss://")
    }).pipe(Effect.provide(services))
  )
})

describe("create, again", () => {
  it.effect("returns the same trial, also to those who ask at the same time", () =>
    Effect.gen(function* () {
      const [first, ...others] = yield* Effect.replicateEffect(create(), 5).pipe(
        Effect.flatMap((handles) => Effect.map(create(), (handle) => [handle, ...handles]))
      )
      for (const other of others) assert.strictEqual(other, first)
      const concurrent = yield* Effect.forEach([1, 2, 3], () => create({ trialId: "other-trial" }), {
        concurrency: "unbounded"
      })
      assert.strictEqual(new Set(concurrent).size, 1)
      assert.notStrictEqual(concurrent[0]?.channelId, first?.channelId)
      const created = (yield* (yield* TestRelay).calls).filter(({ method }) => method === "createChannel")
      assert.strictEqual(created.length, 2)
    }).pipe(Effect.provide(services))
  )

  it.effect("refuses the same trial with another manifest", () =>
    Effect.gen(function* () {
      yield* create()
      const error = yield* Effect.flip(create({ manifestHash: "b".repeat(64) }))
      assert.strictEqual(error.reason._tag, "TrialConflict")
      assert.include(error.message, "a".repeat(64))
      assert.include(error.message, "b".repeat(64))
    }).pipe(Effect.provide(services))
  )

  it.effect("starts anew after a failure or a teardown", () =>
    Effect.gen(function* () {
      const provisioner = yield* TrialProvisioner
      yield* (yield* TestRelay).failNext("addMember", gone)
      yield* Effect.flip(create())
      const first = yield* create()
      yield* provisioner.teardown(first)
      const second = yield* create()
      assert.notStrictEqual(second.channelId, first.channelId)
    }).pipe(Effect.provide(services))
  )
})

describe("a step that fails", () => {
  it.effect("is named, and what was made before it is undone", () =>
    Effect.gen(function* () {
      const relay = yield* TestRelay
      for (const [method, step] of [
        ["setProfile", "profile of user"],
        ["createChannel", "channel"],
        ["addMember", "member "]
      ] as const) {
        yield* relay.failNext(method, gone)
        const error = yield* Effect.flip(create())
        assert.include(error.message, step)
        assert.strictEqual(error.reason._tag, "RelayStepFailed")
      }
      assert.strictEqual(yield* channelsLeft, 0)
    }).pipe(Effect.provide(services))
  )

  it.effect("is not undone when the relay refused the channel itself", () =>
    Effect.gen(function* () {
      const relay = yield* TestRelay
      yield* relay.failNext("createChannel", new RelayRefused({ url: "x", status: 400, detail: "invalid: no" }))
      const error = yield* Effect.flip(create())
      assert.include(error.message, "invalid: no")
      assert.notInclude(
        (yield* relay.calls).map(({ method }) => method),
        "archiveChannel"
      )
    }).pipe(Effect.provide(services))
  )

  it.effect("stays the error even when it cannot be undone", () =>
    Effect.gen(function* () {
      const relay = yield* TestRelay
      yield* relay.failNext("addMember", gone)
      yield* relay.failNext("archiveChannel", new RelayRefused({ url: "x", status: 500, detail: "no" }))
      const error = yield* Effect.flip(create())
      assert.include(error.message, "gone")
    }).pipe(Effect.provide(services))
  )

  it.effect("may be the store", () => {
    const failing = Layer.effect(
      TrialHandleStore,
      TrialHandleStore.use((store) => Effect.succeed({ ...store, put: () => Effect.die(new Error("disk full")) }))
    ).pipe(Layer.provide(TrialHandleStore.layerMemory))
    return Effect.gen(function* () {
      const exit = yield* Effect.exit(create())
      assert.isTrue(Exit.hasDies(exit))
      assert.strictEqual(yield* channelsLeft, 0)
    }).pipe(Effect.provide(servicesWith(failing, () => ok({}))))
  })

  it.effect("may be the caller who lost patience", () => {
    const stuck = Layer.effect(
      TrialHandleStore,
      TrialHandleStore.use((store) => Effect.succeed({ ...store, put: () => Effect.never }))
    ).pipe(Layer.provide(TrialHandleStore.layerMemory))
    return Effect.gen(function* () {
      const creating = yield* Effect.forkChild(create(), { startImmediately: true })
      while ((yield* channelsLeft) === 0) yield* Effect.yieldNow
      yield* Fiber.interrupt(creating)
      assert.strictEqual(yield* channelsLeft, 0)
    }).pipe(Effect.provide(servicesWith(stuck, () => ok({}))))
  })
})

describe("create, interrupted", () => {
  const storeWith = (change: (store: TrialHandleStore["Service"]) => Partial<TrialHandleStore["Service"]>) =>
    Layer.effect(
      TrialHandleStore,
      TrialHandleStore.useSync((store) => ({ ...store, ...change(store) }))
    ).pipe(Layer.provide(TrialHandleStore.layerMemory))

  /** Creates as a caller who cannot be interrupted; `exit` is what that caller gets. */
  const creating = Effect.gen(function* () {
    const done = yield* Deferred.make<Exit.Exit<TrialHandle, unknown>>()
    const caller = Effect.flatMap(Effect.exit(create()), (exit) => Deferred.succeed(done, exit))
    const fiber = yield* Effect.forkChild(Effect.uninterruptible(caller))
    return { interrupt: () => fiber.interruptUnsafe(), exit: Deferred.await(done) }
  })

  it.effect("when everything is made returns it to a caller who cannot be interrupted", () => {
    let interrupt = () => {}
    const unlocking = storeWith((store) => ({
      withLock: (key, effect) => Effect.tap(store.withLock(key, effect), () => Effect.sync(() => interrupt()))
    }))
    return Effect.gen(function* () {
      const caller = yield* creating
      interrupt = caller.interrupt
      assert.isTrue(Exit.isSuccess(yield* caller.exit), "the trial was lost")
      assert.strictEqual(yield* channelsLeft, 1)
    }).pipe(Effect.provide(servicesWith(unlocking, () => ok({}))))
  })

  it.effect("as it works ends for such a caller, too, and undoes what it made", () =>
    Effect.gen(function* () {
      const caller = yield* creating
      while ((yield* channelsLeft) === 0) yield* Effect.yieldNow
      caller.interrupt()
      assert.isTrue(Exit.hasInterrupts(yield* caller.exit))
      assert.strictEqual(yield* channelsLeft, 0)
    }).pipe(
      Effect.provide(
        servicesWith(
          storeWith(() => ({ put: () => Effect.never })),
          () => ok({})
        )
      )
    )
  )
})

describe("teardown", () => {
  it.effect("touches nothing when the channel is to stay", () =>
    Effect.gen(function* () {
      const provisioner = yield* TrialProvisioner
      const handle = yield* create()
      assert.deepStrictEqual(yield* Effect.provideService(provisioner.teardown(handle), ArchiveOnTeardown, false), [])
      assert.strictEqual(yield* (yield* TestRelay).channel(handle.channelId), "open")
      assert.strictEqual(yield* (yield* TrialHandleStore).get(handle), handle)
    }).pipe(Effect.provide(services))
  )

  it.effect("archives the channel and forgets the trial, and may be repeated", () =>
    Effect.gen(function* () {
      const provisioner = yield* TrialProvisioner
      const handle = yield* create()
      for (let n = 0; n < 2; n++) {
        assert.deepStrictEqual(yield* provisioner.teardown(handle), [
          { step: "archive channel", error: undefined },
          { step: "forget handle", error: undefined }
        ])
      }
      assert.strictEqual(yield* (yield* TestRelay).channel(handle.channelId), "archived")
    }).pipe(Effect.provide(services))
  )

  it.effect("reports what failed, and remembers a trial whose channel is still to be archived", () =>
    Effect.gen(function* () {
      const provisioner = yield* TrialProvisioner
      const handle = yield* create()
      yield* (yield* TestRelay).failNext("archiveChannel", gone)
      const [archive, forget] = yield* provisioner.teardown(handle)
      assert.include(archive?.error ?? "", "gone")
      assert.include(forget?.error ?? "", "kept")
      const store = yield* TrialHandleStore
      assert.strictEqual(yield* store.get(handle), handle)
      assert.deepStrictEqual(
        (yield* provisioner.teardown(handle)).map(({ error }) => error),
        [undefined, undefined]
      )
      assert.isUndefined(yield* store.get(handle))
    }).pipe(Effect.provide(services))
  )
})
