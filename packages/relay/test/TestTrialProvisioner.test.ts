import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { inspect } from "node:util"
import { ApiKeyMissing } from "../src/ProvisioningError.ts"
import { testIdentity } from "../src/testing/TestIdentity.ts"
import { TestTrialProvisioner } from "../src/testing/TestTrialProvisioner.ts"
import { type ProvisionRequest, TrialProvisioner } from "../src/TrialProvisioner.ts"
import { manifest } from "./fixtures.ts"

const request: ProvisionRequest = {
  runId: "run",
  trialId: "trial",
  manifest: manifest({ id: "worker" }, { id: "lead", kind: "orchestrator" }),
  manifestHash: "a".repeat(64),
  relayUrl: "ws://relay",
  apiKeys: { model: Redacted.make("sk-secret") }
}

it.effect("makes the same trial as the real one would, with known keys", () =>
  Effect.gen(function* () {
    const provisioner = yield* TrialProvisioner
    const control = yield* TestTrialProvisioner
    const handle = yield* provisioner.create(request)
    assert.deepStrictEqual(
      handle.credentials.map(({ agentId }) => agentId),
      ["lead-1", "worker-1"]
    )
    assert.strictEqual(handle.user.identity.pubkey, testIdentity(1).pubkey)
    assert.strictEqual(yield* provisioner.create(request), handle)
    const conflict = yield* Effect.flip(provisioner.create({ ...request, manifestHash: "b".repeat(64) }))
    assert.strictEqual(conflict.reason._tag, "TrialConflict")
    yield* provisioner.teardown(handle)
    assert.deepStrictEqual(yield* control.tornDown, [handle])
    const requests = yield* control.requests
    assert.strictEqual(requests.length, 3)
    assert.notInclude(inspect(requests, { depth: 9 }), "sk-secret")
  }).pipe(Effect.provide(TestTrialProvisioner.layer))
)

it.effect("fails when it is told to", () =>
  Effect.gen(function* () {
    const provisioner = yield* TrialProvisioner
    const control = yield* TestTrialProvisioner
    const reason = new ApiKeyMissing({ endpoint: "model", variable: "MODEL_KEY" })
    yield* control.failNext(reason)
    const error = yield* Effect.flip(provisioner.create(request))
    assert.include(error.message, "no API key for endpoint model; set MODEL_KEY")
    yield* provisioner.create(request)
    yield* provisioner.healthcheck("ws://relay")
    yield* control.fallIll(reason)
    assert.strictEqual((yield* Effect.flip(provisioner.healthcheck("ws://relay"))).reason, reason)
    const steps = [{ step: "archive channel", error: "gone" }]
    yield* control.reportTeardown(steps)
    assert.deepStrictEqual(yield* provisioner.teardown(yield* provisioner.create(request)), steps)
  }).pipe(Effect.provide(TestTrialProvisioner.layer))
)
