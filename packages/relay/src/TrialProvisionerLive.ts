/**
 * `TrialProvisioner` over a relay and a handle store. The user owns the channel, as a person would; profiles are published
 * before anybody speaks, because agents look up each other's attestation there once and remember the answer.
 */
import { Cause, Duration, Effect, Layer, Option, type Redacted, Ref } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpClient } from "effect/http"
import { type Actor, BuzzClient } from "./BuzzClient.ts"
import * as Identity from "./Identity.ts"
import { causeText } from "./internal/causeText.ts"
import {
  ApiKeyMissing,
  ProvisioningError,
  type ProvisioningReason,
  RelayStepFailed,
  TrialConflict
} from "./ProvisioningError.ts"
import { type RelayError, type RelayReason, RelayRefused, RelayUnreachable } from "./RelayError.ts"
import { agentRelayUrl, toHttp, userRelayUrl } from "./RelayUrl.ts"
import { Schnorr, type SchnorrOps } from "./Schnorr.ts"
import type { AgentCredential, TrialHandle, TrialUser } from "./TrialHandle.ts"
import { TrialHandleStore } from "./TrialHandleStore.ts"
import { type ProvisionRequest, type TeardownStep, TrialProvisioner } from "./TrialProvisioner.ts"
import * as TrialRoster from "./TrialRoster.ts"

/** How many agents are introduced to the relay at a time. */
const CONCURRENCY = 4
/** Undoing and tearing down may not hang on a relay that is gone. */
const STEP_DEADLINE = Duration.seconds(10)
const HEALTH_DEADLINE = Duration.seconds(5)

/** Name of a user for whom the request gives none. */
export const DEFAULT_USER_NAME = "user"

type Needs = BuzzClient | TrialHandleStore | Schnorr | SecureRandom.SecureRandom | HttpClient.HttpClient

/** Over any `BuzzClient` and any store; the HTTP client is for the health check alone. */
export const layer: Layer.Layer<TrialProvisioner, never, Needs> = Layer.effect(
  TrialProvisioner,
  Effect.gen(function* () {
    const context = yield* Effect.context<Needs>()
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
      const archive = Effect.flatMap(userOf(handle), (actor) => client.archiveChannel(actor, handle.channelId))
      return [yield* tried("archive channel", archive), yield* tried("forget handle", store.remove(handle))]
    })

    const healthcheck = Effect.fn("TrialProvisioner.healthcheck")(
      (relayUrl: string) => Effect.provide(readiness(relayUrl), context),
      Effect.mapError((reason) => provisioningError(NO_TRIAL, new RelayStepFailed({ step: "healthcheck", reason })))
    )

    return TrialProvisioner.of({ create, teardown, healthcheck })
  })
)

const findOrProvision = Effect.fnUntraced(function* (request: ProvisionRequest, made: Made) {
  const store = yield* TrialHandleStore
  const existing = yield* store.get(request)
  if (existing === undefined) return yield* provision(request, made)
  if (existing.manifestHash === request.manifestHash) return existing
  return yield* new TrialConflict({
    runId: request.runId,
    trialId: request.trialId,
    existingHash: existing.manifestHash,
    requestedHash: request.manifestHash
  })
})

/** Where a new handle stands once everything of it exists. */
type Made = Ref.Ref<Option.Option<TrialHandle>>

const provision = Effect.fnUntraced(function* (request: ProvisionRequest, made: Made) {
  const store = yield* TrialHandleStore
  const client = yield* BuzzClient
  const handle = yield* mint(request)
  const actor = yield* userOf(handle).pipe(atStep("relay URL"))
  const undo = client.archiveChannel(actor, handle.channelId).pipe(
    Effect.timeout(STEP_DEADLINE),
    Effect.catchCause((cause) =>
      Effect.logWarning(`channel ${handle.channelId} of a trial that was not provisioned may be left`, cause)
    )
  )
  yield* introduce(actor.relayUrl, handle.user)
  yield* Effect.uninterruptibleMask((restore) =>
    restore(Effect.andThen(openChannel(handle, actor, request), store.put(handle))).pipe(
      // Not only after the channel's creation was confirmed: it may exist although the answer was lost.
      Effect.onError((cause) => (channelWasRefused(cause) ? Effect.void : undo)),
      Effect.andThen(Ref.set(made, Option.some(handle)))
    )
  )
  return handle
})

/** Everything that needs no relay: names, keys, attestations. */
const mint = Effect.fnUntraced(function* (request: ProvisionRequest) {
  const schnorr = yield* Schnorr
  const relayUrl = yield* Effect.fromResult(agentRelayUrl(request.relayUrl)).pipe(atStep("relay URL"))
  const owner = request.ownerKey === undefined ? undefined : yield* ownerOf(request.ownerKey)
  const credentials = yield* Effect.forEach(TrialRoster.seats(request.manifest.roster), (seat) =>
    credential(seat, request, attest(schnorr, owner))
  )
  const channelId = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  const user = request.user ?? { name: DEFAULT_USER_NAME, identity: yield* Identity.generate }
  const handle: TrialHandle = {
    runId: request.runId,
    trialId: request.trialId,
    manifestHash: request.manifestHash,
    relayUrl,
    userRelayUrl: request.userRelayUrl,
    channelId,
    credentials,
    user: { name: user.name, identity: attest(schnorr, owner)(user.identity) }
  }
  return handle
})

const credential = Effect.fnUntraced(function* (
  seat: TrialRoster.Seat,
  request: ProvisionRequest,
  attest: (identity: Identity.Identity) => Identity.Identity
) {
  if (!Object.hasOwn(request.apiKeys, seat.endpoint)) {
    return yield* new ApiKeyMissing({ endpoint: seat.endpoint, variable: undefined })
  }
  const minted: AgentCredential = {
    ...seat,
    identity: attest(yield* Identity.generate),
    apiKey: request.apiKeys[seat.endpoint]
  }
  return minted
})

/** An attestation that came with a pinned user is kept. */
const attest =
  (schnorr: SchnorrOps, owner: Identity.Identity | undefined) =>
  (identity: Identity.Identity): Identity.Identity =>
    owner === undefined || identity.authTag !== undefined ? identity : Identity.attested(schnorr, identity, owner)

const ownerOf = (ownerKey: Redacted.Redacted<string>) => Identity.parse(ownerKey).pipe(reasonOf, atStep("owner key"))

/** Publishes somebody's profile, as that somebody. */
const introduce = (relayUrl: string, who: TrialUser) =>
  BuzzClient.use((client) => client.setProfile({ relayUrl, identity: who.identity }, { name: who.name })).pipe(
    reasonOf,
    atStep(`profile of ${who.name}`)
  )

/** The channel and everybody in it; each agent introduces itself before it is invited. */
const openChannel = Effect.fnUntraced(function* (handle: TrialHandle, actor: Actor, request: ProvisionRequest) {
  const client = yield* BuzzClient
  const { channelId } = handle
  const name = TrialRoster.channelName({ ...handle, label: request.channelLabel })
  const description = TrialRoster.channelDescription(handle)
  yield* client.createChannel(actor, { id: channelId, name, description }).pipe(reasonOf, atStep(CHANNEL_STEP))
  yield* Effect.forEach(
    handle.credentials,
    Effect.fnUntraced(function* ({ agentId, identity }) {
      yield* introduce(actor.relayUrl, { name: agentId, identity })
      yield* client
        .addMember(actor, { channelId, pubkey: identity.pubkey, role: "member" })
        .pipe(reasonOf, atStep(`member ${agentId}`))
    }),
    { concurrency: CONCURRENCY, discard: true }
  )
})

const CHANNEL_STEP = "channel"

/** A relay that said no made no channel. */
const channelWasRefused = (cause: Cause.Cause<RelayStepFailed>): boolean => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error?.step !== CHANNEL_STEP) return false
  return error.reason._tag === "RelayRefused" || error.reason._tag === "RelayAuthRefused"
}

const readiness = Effect.fnUntraced(function* (relayUrl: string) {
  const client = yield* HttpClient.HttpClient
  const url = yield* Effect.fromResult(toHttp(relayUrl))
  const { status } = yield* client.get(`${url}/_readiness`).pipe(
    Effect.mapError(({ reason }) => unreachable(url, causeText(reason) ?? "no connection")),
    Effect.timeoutOrElse({
      duration: HEALTH_DEADLINE,
      orElse: () => Effect.fail(unreachable(url, `no answer within ${Duration.format(HEALTH_DEADLINE)}`))
    }),
    Effect.scoped
  )
  if (status !== 200) return yield* new RelayRefused({ url, status, detail: "the relay is not ready" })
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

const reasonOf = <A, R>(effect: Effect.Effect<A, RelayError, R>): Effect.Effect<A, RelayReason, R> =>
  Effect.mapError(effect, ({ reason }) => reason)

const atStep =
  (step: string) =>
  <A, R>(effect: Effect.Effect<A, RelayReason, R>): Effect.Effect<A, RelayStepFailed, R> =>
    Effect.mapError(effect, (reason) => new RelayStepFailed({ step, reason }))

const unreachable = (url: string, detail: string) => new RelayUnreachable({ url, detail })

const NO_TRIAL = { runId: "", trialId: "" }

const provisioningError = (trial: { readonly runId: string; readonly trialId: string }, reason: ProvisioningReason) =>
  new ProvisioningError({ runId: trial.runId, trialId: trial.trialId, reason })
