/** What of a trial needs no relay: its names, keys and attestations. */
import { Effect, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { taskUserId } from "../DirectoryIdentity.ts"
import * as Identity from "../Identity.ts"
import { ApiKeyMissing } from "../ProvisioningError.ts"
import { agentRelayUrl } from "../RelayUrl.ts"
import { Schnorr, type SchnorrOps } from "../Schnorr.ts"
import type { AgentCredential, TrialHandle } from "../TrialHandle.ts"
import type { ProvisionRequest } from "../TrialProvisioner.ts"
import * as TrialRoster from "../TrialRoster.ts"
import * as Directory from "./directory.ts"
import { atStep, reasonOf } from "./provisioningSteps.ts"

/** Name of a user for whom the request gives none. */
const DEFAULT_USER_NAME = "user"

/** The handle, with a channel that is still to be created. */
export const mint = Effect.fnUntraced(function* (request: ProvisionRequest) {
  const schnorr = yield* Schnorr
  const relayUrl = yield* Effect.fromResult(agentRelayUrl(request.relayUrl)).pipe(atStep("relay URL"))
  const owner = request.ownerKey === undefined ? undefined : yield* ownerOf(request.ownerKey)
  const credentials = yield* Effect.forEach(TrialRoster.seats(request.manifest.roster), (seat) =>
    credential(seat, request, attest(schnorr, owner))
  )
  const channelId = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
  const user = yield* mintUser(request, owner)
  const directory = yield* Directory.mint(schnorr, request.directory ?? [], owner).pipe(
    Effect.fromResult,
    atStep("directory")
  )
  const handle: TrialHandle = {
    runId: request.runId,
    trialId: request.trialId,
    manifestHash: request.manifestHash,
    relayUrl,
    userRelayUrl: request.userRelayUrl,
    channelId,
    credentials,
    user: { name: user.name, identity: attest(schnorr, owner)(user.identity) },
    ...(directory.length === 0 ? {} : { directory })
  }
  return handle
})

/** A task's own user is the same in all its trials, and goes before a pinned one, whose profile two tasks would fight over. */
const mintUser = Effect.fnUntraced(function* (
  { taskUser, user }: ProvisionRequest,
  owner: Identity.Identity | undefined
) {
  if (taskUser === undefined) return user ?? { name: DEFAULT_USER_NAME, identity: yield* Identity.generate }
  const schnorr = yield* Schnorr
  const entry = { name: taskUser.name, role: "user", identityId: taskUserId(taskUser.taskName) } as const
  const identities = yield* Directory.mint(schnorr, [entry], owner).pipe(Effect.fromResult, atStep("user of the task"))
  return { name: taskUser.name, identity: identities[0]?.identity ?? (yield* Identity.generate) }
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
