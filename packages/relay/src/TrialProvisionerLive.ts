/**
 * `TrialProvisioner` over a relay and a handle store. The user owns the channel, as a person would; profiles are published
 * before anybody speaks, because agents look up each other's attestation there once and remember the answer.
 */
import { Cause, Context, Duration, Effect, Layer, Option, Ref, Tracer } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { HttpClient } from "effect/http"
import { type Actor, BuzzClient } from "./BuzzClient.ts"
import * as Directory from "./internal/directory.ts"
import { mint } from "./internal/mintTrial.ts"
import { atStep, reasonOf } from "./internal/provisioningSteps.ts"
import { ProvisioningError, type ProvisioningReason, RelayStepFailed, TrialConflict } from "./ProvisioningError.ts"
import { RelayRefused } from "./RelayError.ts"
import * as RelayHealth from "./RelayHealth.ts"
import { toHttp, userRelayUrl } from "./RelayUrl.ts"
import type { Schnorr } from "./Schnorr.ts"
import type { TrialHandle, TrialUser } from "./TrialHandle.ts"
import { TrialHandleStore } from "./TrialHandleStore.ts"
import { ArchiveOnTeardown, type ProvisionRequest, type TeardownStep, TrialProvisioner } from "./TrialProvisioner.ts"
import * as TrialRoster from "./TrialRoster.ts"

/** How many agents are introduced to the relay at a time. */
const CONCURRENCY = 4
/** Undoing and tearing down may not hang on a relay that is gone. */
const STEP_DEADLINE = Duration.seconds(10)

type Needs = BuzzClient | TrialHandleStore | Schnorr | SecureRandom.SecureRandom | HttpClient.HttpClient

/** Over any `BuzzClient` and any store; the HTTP client is for the health check alone. */
export const layer: Layer.Layer<TrialProvisioner, never, Needs> = Layer.effect(
  TrialProvisioner,
  Effect.gen(function* () {
    // Without the span in which the layer was built: a method stands in its caller's.
    const context = Context.omit(Tracer.ParentSpan)(yield* Effect.context<Needs>())
    const store = yield* TrialHandleStore
    const client = yield* BuzzClient

    const create = Effect.fn("TrialProvisioner.create")(
      function* (request: ProvisionRequest) {
        const made = yield* Ref.make(Option.none<TrialHandle>())
        const creating = store.withLock(request, Effect.provide(findOrProvision(request, made), context))
        // An interruption that comes when all is made must not lose it on the way to a caller who could take it down.
        return yield* Effect.interruptible(creating).pipe(
          Effect.catchCause((cause) =>
            Effect.flatMap(Ref.get(made), (handle) =>
              Cause.hasInterrupts(cause) && Option.isSome(handle)
                ? Effect.succeed(handle.value)
                : Effect.failCause(cause)
            )
          ),
          Effect.uninterruptible
        )
      },
      (effect, request) => Effect.mapError(effect, (reason) => provisioningError(request, reason))
    )

    const teardown = Effect.fn("TrialProvisioner.teardown")(function* (handle: TrialHandle) {
      if (!(yield* ArchiveOnTeardown)) return []
      const archive = Effect.flatMap(userOf(handle), (actor) => client.archiveChannel(actor, handle.channelId))
      const archived = yield* tried("archive channel", archive)
      // Whoever comes later can still archive it, as long as the trial is remembered.
      const forgotten: TeardownStep =
        archived.error === undefined
          ? yield* tried("forget handle", store.remove(handle))
          : { step: "forget handle", error: "kept, because the channel is still to be archived" }
      return [archived, forgotten]
    })

    const healthcheck = Effect.fn("TrialProvisioner.healthcheck")(
      (relayUrl: string, user?: TrialUser) => Effect.provide(health(relayUrl, user), context),
      Effect.mapError((reason) => provisioningError(NO_TRIAL, new RelayStepFailed({ step: "healthcheck", reason })))
    )

    return TrialProvisioner.of({ create, teardown, healthcheck })
  })
)

const findOrProvision = Effect.fnUntraced(function* (request: ProvisionRequest, made: Made) {
  const store = yield* TrialHandleStore
  const existing = yield* store.get(request)
  if (existing === undefined) return yield* provision(request, made)
  if (existing.manifestHash === request.manifestHash) return withApiKeys(existing, request)
  return yield* new TrialConflict({
    runId: request.runId,
    trialId: request.trialId,
    existingHash: existing.manifestHash,
    requestedHash: request.manifestHash
  })
})

/** A store on disk keeps no API keys. */
const withApiKeys = (handle: TrialHandle, { apiKeys }: ProvisionRequest): TrialHandle =>
  handle.credentials.every(({ apiKey, endpoint }) => apiKey === apiKeys[endpoint])
    ? handle
    : {
        ...handle,
        credentials: handle.credentials.map((credential) => ({ ...credential, apiKey: apiKeys[credential.endpoint] }))
      }

/** Where a new handle stands once everything of it exists. */
type Made = Ref.Ref<Option.Option<TrialHandle>>

const provision = Effect.fnUntraced(function* (request: ProvisionRequest, made: Made) {
  const store = yield* TrialHandleStore
  const client = yield* BuzzClient
  const minted = yield* mint(request)
  const actor = yield* userOf(minted).pipe(atStep("relay URL"))
  const channel = yield* Ref.make(minted.channelId)
  const undo = Ref.get(channel).pipe(
    Effect.flatMap((channelId) => client.archiveChannel(actor, channelId)),
    Effect.timeout(STEP_DEADLINE),
    Effect.catchCause((cause) =>
      Effect.logWarning(`a channel of trial ${minted.trialId}, which was not provisioned, may be left`, cause)
    )
  )
  yield* introduceUser(actor, minted.user, request)
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const channelId = yield* createChannel(minted, actor, request)
      yield* Ref.set(channel, channelId)
      const handle: TrialHandle = { ...minted, channelId }
      yield* fillChannel(handle, actor)
      yield* store.put(handle)
      return handle
    }).pipe(
      restore,
      // Not only after the channel's creation was confirmed: it may exist although the answer was lost.
      Effect.onError((cause) => (channelWasRefused(cause) ? Effect.void : undo)),
      Effect.tap((handle) => Ref.set(made, Option.some(handle)))
    )
  )
})

/** Publishes somebody's profile, as that somebody. */
const introduce = (relayUrl: string, who: TrialUser) =>
  BuzzClient.use((client) => client.setProfile({ relayUrl, identity: who.identity }, { name: who.name })).pipe(
    reasonOf,
    atStep(`profile of ${who.name}`)
  )

/** Whoever exists already keeps the name; what an owner attests must stand in the profile, where agents look for it. */
const introduceUser = Effect.fnUntraced(function* (actor: Actor, user: TrialUser, request: ProvisionRequest) {
  if (request.user === undefined && request.taskUser === undefined) return yield* introduce(actor.relayUrl, user)
  const client = yield* BuzzClient
  const [existing] = yield* client
    .profiles(actor, [user.identity.pubkey])
    .pipe(reasonOf, atStep(`profile of ${user.name}`))
  if (existing !== undefined && request.ownerKey === undefined) return
  yield* introduce(actor.relayUrl, { ...user, name: existing?.name ?? user.name })
})

const createChannel = Effect.fnUntraced(function* (handle: TrialHandle, actor: Actor, request: ProvisionRequest) {
  const client = yield* BuzzClient
  const name = TrialRoster.channelName({ ...handle, label: request.channelLabel })
  const description = TrialRoster.channelDescription(handle)
  return yield* client
    .createChannel(actor, { id: handle.channelId, name, description })
    .pipe(reasonOf, atStep(CHANNEL_STEP))
})

/** Everybody in the channel; each agent introduces itself before it is invited. */
const fillChannel = Effect.fnUntraced(function* (
  { channelId, credentials, directory = [] }: TrialHandle,
  actor: Actor
) {
  const client = yield* BuzzClient
  yield* Effect.forEach(
    credentials,
    Effect.fnUntraced(function* ({ agentId, identity }) {
      yield* introduce(actor.relayUrl, { name: agentId, identity })
      yield* client
        .addMember(actor, { channelId, pubkey: identity.pubkey, role: "member" })
        .pipe(reasonOf, atStep(`member ${agentId}`))
    }),
    { concurrency: CONCURRENCY, discard: true }
  )
  yield* Directory.seed(client, actor, channelId, directory)
})

const CHANNEL_STEP = "channel"

/** A relay that said no made no channel. */
const channelWasRefused = (cause: Cause.Cause<ProvisioningReason>): boolean => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error?._tag !== "RelayStepFailed" || error.step !== CHANNEL_STEP) return false
  return error.reason._tag === "RelayRefused" || error.reason._tag === "RelayAuthRefused"
}

const health = Effect.fnUntraced(function* (relayUrl: string, user: TrialUser | undefined) {
  yield* RelayHealth.check(relayUrl)
  if (user === undefined) return
  const client = yield* BuzzClient
  const actor: Actor = { relayUrl: yield* Effect.fromResult(toHttp(relayUrl)), identity: user.identity }
  const read = client.profiles(actor, [user.identity.pubkey])
  const [existing] = yield* reasonOf(read)
  if (existing !== undefined) return
  yield* reasonOf(client.setProfile(actor, { name: user.name }))
  const [published] = yield* reasonOf(read)
  if (published === undefined) {
    return yield* new RelayRefused({
      url: relayUrl,
      status: undefined,
      detail: "it took a profile and does not show it"
    })
  }
})

const tried = <E extends { readonly message: string }>(
  step: string,
  effect: Effect.Effect<void, E>
): Effect.Effect<TeardownStep> =>
  effect.pipe(
    Effect.timeout(STEP_DEADLINE),
    Effect.as<TeardownStep>({ step, error: undefined }),
    Effect.catchCause((cause) =>
      Effect.succeed({ step, error: Cause.prettyErrors(cause)[0]?.message ?? "interrupted" })
    )
  )

const userOf = (handle: TrialHandle) =>
  Effect.map(Effect.fromResult(userRelayUrl(handle)), (relayUrl): Actor => ({
    relayUrl,
    identity: handle.user.identity
  }))

const NO_TRIAL = { runId: "", trialId: "" }

const provisioningError = (trial: { readonly runId: string; readonly trialId: string }, reason: ProvisioningReason) =>
  new ProvisioningError({ runId: trial.runId, trialId: trial.trialId, reason })
