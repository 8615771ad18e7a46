import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { BuzzClient } from "../src/BuzzClient.ts"
import * as RelayHealth from "../src/RelayHealth.ts"
import { Schnorr } from "../src/Schnorr.ts"
import { testIdentity } from "../src/testing/TestIdentity.ts"
import { TestRelay } from "../src/testing/TestRelay.ts"
import { TrialHandleStore } from "../src/TrialHandleStore.ts"
import { TrialProvisioner } from "../src/TrialProvisioner.ts"
import * as TrialProvisionerLive from "../src/TrialProvisionerLive.ts"
import { type Answer, ok, type Respond, scripted } from "./ScriptedHttp.ts"

const NOW = 1_800_000_000_000
const dated = (offsetSeconds: number): Answer => ({
  status: 200,
  body: { status: "ready" },
  headers: { date: new Date(NOW + offsetSeconds * 1000).toUTCString() }
})

const ask = (respond: Respond) =>
  Effect.andThen(TestClock.setTime(NOW), Effect.result(RelayHealth.check("ws://relay:3600"))).pipe(
    Effect.map((result) => (result._tag === "Success" ? result.success : result.failure)),
    Effect.provide(scripted(respond).layer)
  )

describe("a relay's health", () => {
  it.effect("is 200 for /_readiness and nothing else", () =>
    Effect.gen(function* () {
      const ready = yield* ask((request) => (request.path === "/_readiness" ? ok("") : { status: 404, body: "" }))
      assert.deepStrictEqual(ready, { millis: 0, skewSeconds: undefined })
      const busy = yield* ask(() => ({ status: 503, body: { status: "not_ready" } }))
      assert.deepInclude(busy, { _tag: "RelayRefused", status: 503 })
      assert.deepInclude(yield* ask(() => "no connection"), { _tag: "RelayUnreachable" })
    })
  )

  it.effect("tells how far its clock is from ours, as far as signatures may be", () =>
    Effect.gen(function* () {
      for (const [offset, skewSeconds] of [
        [0, 0],
        [59, 59],
        [60, 60],
        [-61, -60],
        [-1, 0]
      ] as const) {
        assert.deepInclude(yield* ask(() => dated(offset)), { skewSeconds })
      }
    })
  )

  it.effect("is of no use when every signature would be refused: ClockSkewed", () =>
    Effect.gen(function* () {
      const behind = yield* ask(() => dated(75))
      assert.deepInclude(behind, { _tag: "ClockSkewed", skewSeconds: 75, limitSeconds: 60 })
      assert.include("message" in behind ? behind.message : "", "75 s behind")
      assert.deepInclude(yield* ask(() => dated(-1_000)), { _tag: "ClockSkewed", skewSeconds: -999 })
    })
  )
})

const user = { name: "Ada", identity: testIdentity(1) }
const services = TrialProvisionerLive.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(TestRelay.layer, TrialHandleStore.layerMemory)),
  Layer.provide(Layer.mergeAll(Schnorr.layerPure, SecureRandom.layerWebCrypto, scripted(() => ok("")).layer))
)

describe("the health check of a provisioner", () => {
  it.effect("reads back what the user publishes, and leaves a profile that is there as it is", () =>
    Effect.gen(function* () {
      const provisioner = yield* TrialProvisioner
      const relay = yield* TestRelay
      yield* provisioner.healthcheck("ws://relay:3600")
      assert.deepStrictEqual(yield* relay.calls, [])
      yield* provisioner.healthcheck("ws://relay:3600", user)
      assert.strictEqual((yield* relay.names).get(user.identity.pubkey), "Ada")
      yield* provisioner.healthcheck("ws://relay:3600", { ...user, name: "Somebody" })
      assert.strictEqual((yield* relay.names).get(user.identity.pubkey), "Ada")
      assert.deepStrictEqual(
        (yield* relay.calls).map(({ method }) => method),
        ["profiles", "setProfile", "profiles", "profiles"]
      )
    }).pipe(Effect.provide(services))
  )

  it.effect("fails when the relay takes a profile and does not show it", () => {
    const forgetful = Layer.effect(
      BuzzClient,
      BuzzClient.useSync((client) => ({ ...client, profiles: () => Effect.succeed([]) }))
    )
    return Effect.gen(function* () {
      const provisioner = yield* TrialProvisioner
      const error = yield* Effect.flip(provisioner.healthcheck("ws://relay:3600", user))
      assert.include(error.message, "does not show it")
    }).pipe(
      Effect.provide(
        TrialProvisionerLive.layer.pipe(
          Layer.provide([forgetful.pipe(Layer.provide(TestRelay.layer)), TrialHandleStore.layerMemory]),
          Layer.provide([Schnorr.layerPure, SecureRandom.layerWebCrypto, scripted(() => ok("")).layer])
        )
      )
    )
  })
})
