/**
 * Test facility: a provisioner that makes trials of fixed keys without a relay, remembers what it was asked, and fails on
 * demand.
 */
import { Context, Effect, Layer } from "effect"
import { ProvisioningError, type ProvisioningReason, TrialConflict } from "../ProvisioningError.ts"
import type { TrialHandle } from "../TrialHandle.ts"
import { type ProvisionRequest, type TeardownStep, TrialProvisioner } from "../TrialProvisioner.ts"
import * as TrialRoster from "../TrialRoster.ts"
import { testIdentity } from "./TestIdentity.ts"
import { testTrialHandle } from "./TestTrialHandle.ts"

/** The test's hold on the provisioner. */
export class TestTrialProvisioner extends Context.Service<
  TestTrialProvisioner,
  {
    /** The requests so far, oldest first; secrets are still `Redacted`. */
    readonly requests: Effect.Effect<ReadonlyArray<ProvisionRequest>>
    /** The handles that were taken down, oldest first. */
    readonly tornDown: Effect.Effect<ReadonlyArray<TrialHandle>>
    /** The next `create` fails. */
    failNext(reason: ProvisioningReason): Effect.Effect<void>
    /** What every later `teardown` reports. */
    reportTeardown(steps: ReadonlyArray<TeardownStep>): Effect.Effect<void>
    /** From now on `healthcheck` fails with this reason. */
    fallIll(reason: ProvisioningReason): Effect.Effect<void>
  }
>()("@buzz-orchestra/relay/testing/TestTrialProvisioner") {
  static readonly layer: Layer.Layer<TestTrialProvisioner | TrialProvisioner> = Layer.effectContext(
    Effect.sync(() => {
      const requests: Array<ProvisionRequest> = []
      const tornDown: Array<TrialHandle> = []
      const handles = new Map<string, TrialHandle>()
      const failures: Array<ProvisioningReason> = []
      let illness: ProvisioningReason | undefined
      let steps: ReadonlyArray<TeardownStep> = [
        { step: "archive channel", error: undefined },
        { step: "forget handle", error: undefined }
      ]

      const create = Effect.fn("TestTrialProvisioner.create")(
        function* (request: ProvisionRequest) {
          requests.push(request)
          const failure = failures.shift()
          if (failure !== undefined) return yield* failure
          const existing = handles.get(nameOf(request))
          const requestedHash = request.manifestHash
          if (existing !== undefined && existing.manifestHash !== requestedHash) {
            const { runId, trialId } = request
            return yield* new TrialConflict({ runId, trialId, existingHash: existing.manifestHash, requestedHash })
          }
          const handle = existing ?? handleFor(request)
          handles.set(nameOf(request), handle)
          return handle
        },
        (effect, { runId, trialId }) =>
          Effect.mapError(effect, (reason) => new ProvisioningError({ runId, trialId, reason }))
      )

      return Context.make(
        TrialProvisioner,
        TrialProvisioner.of({
          create,
          teardown: (handle) =>
            Effect.sync(() => {
              tornDown.push(handle)
              handles.delete(nameOf(handle))
              return steps
            }),
          healthcheck: () =>
            illness === undefined
              ? Effect.void
              : Effect.fail(new ProvisioningError({ runId: "", trialId: "", reason: illness }))
        })
      ).pipe(
        Context.add(
          TestTrialProvisioner,
          TestTrialProvisioner.of({
            requests: Effect.sync(() => [...requests]),
            tornDown: Effect.sync(() => [...tornDown]),
            failNext: (reason) => Effect.sync(() => void failures.push(reason)),
            reportTeardown: (next) => Effect.sync(() => void (steps = next)),
            fallIll: (reason) => Effect.sync(() => void (illness = reason))
          })
        )
      )
    })
  )
}

const nameOf = (key: { readonly runId: string; readonly trialId: string }): string => `${key.runId}\0${key.trialId}`

/** People and bots of a task have keys of their own, from this number on. */
const FIRST_OF_DIRECTORY = 100

const handleFor = (request: ProvisionRequest): TrialHandle => ({
  ...testTrialHandle({
    runId: request.runId,
    trialId: request.trialId,
    manifestHash: request.manifestHash,
    relayUrl: request.relayUrl,
    userRelayUrl: request.userRelayUrl,
    ...(request.user === undefined ? {} : { user: request.user }),
    agents: TrialRoster.seats(request.manifest.roster).map((seat) => ({
      ...seat,
      apiKey: request.apiKeys[seat.endpoint]
    }))
  }),
  ...(request.directory === undefined
    ? {}
    : {
        directory: request.directory.map((entry, n) => ({ entry, identity: testIdentity(FIRST_OF_DIRECTORY + n) }))
      })
})
