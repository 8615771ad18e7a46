/** The people and bots that a task expects on a relay: their keys, their profiles, their place in the channel. */
import { Effect, Result } from "effect"
import type { Actor, BuzzClient } from "../BuzzClient.ts"
import { derive, type DirectoryEntry, type DirectoryIdentity, identityIdOf } from "../DirectoryIdentity.ts"
import * as Identity from "../Identity.ts"
import { RelayStepFailed } from "../ProvisioningError.ts"
import { KeyInvalid, type RelayError } from "../RelayError.ts"
import type { SchnorrOps } from "../Schnorr.ts"

/** How many are introduced to the relay at a time. */
const CONCURRENCY = 4

/** Derived and attested by the owner, without whose key there can be none. */
export const mint = (
  schnorr: SchnorrOps,
  entries: ReadonlyArray<DirectoryEntry>,
  owner: Identity.Identity | undefined
): Result.Result<ReadonlyArray<DirectoryIdentity>, KeyInvalid> => {
  if (entries.length === 0) return Result.succeed([])
  if (owner === undefined) {
    return Result.fail(
      new KeyInvalid({ expected: "the key of the relay's owner, from which these identities are derived" })
    )
  }
  return Result.succeed(
    entries.map((entry) => ({
      entry,
      identity: Identity.attested(schnorr, derive(schnorr, owner.secretKey, identityIdOf(entry)), owner)
    }))
  )
}

/**
 * Publishes the profiles that the relay does not have, and those with a text of this task's, and adds the entries that are
 * members of the channel. `actor` looks and invites.
 */
export const seed = Effect.fnUntraced(function* (
  client: BuzzClient["Service"],
  actor: Actor,
  channelId: string,
  directory: ReadonlyArray<DirectoryIdentity>
) {
  if (directory.length === 0) return
  const pubkeys = directory.map(({ identity }) => identity.pubkey)
  const profiles = yield* step("directory", client.profiles(actor, pubkeys))
  const known = new Set(profiles.map(({ pubkey }) => pubkey))
  yield* Effect.forEach(
    directory,
    Effect.fnUntraced(function* ({ entry, identity }) {
      const { about, isChannelMember = false, name, role } = entry
      if (about !== undefined || !known.has(identity.pubkey)) {
        const profile = { name, ...(about === undefined ? {} : { about }) }
        yield* step(`profile of ${name}`, client.setProfile({ ...actor, identity }, profile))
      }
      if (!isChannelMember) return
      const member = { channelId, pubkey: identity.pubkey, role: role === "bot" ? "bot" : "member" } as const
      yield* step(`member ${name}`, client.addMember(actor, member))
    }),
    { concurrency: CONCURRENCY, discard: true }
  )
})

const step = <A>(step: string, effect: Effect.Effect<A, RelayError>): Effect.Effect<A, RelayStepFailed> =>
  Effect.mapError(effect, ({ reason }) => new RelayStepFailed({ step, reason }))
