/**
 * NIP-OA: an owner signs that a fresh key acts for it, so that a relay which admits only members lets the key in. The
 * result is a tag, passed around as compact JSON (`BUZZ_AUTH_TAG`, the `x-auth-tag` header, the `auth` tag of events).
 *
 * Conditions are checked for syntax only, as the relay does; nobody evaluates them.
 */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import { Redacted, Result } from "effect"
import * as Sha256 from "./internal/sha256.ts"
import type { NostrEvent, Tag } from "./NostrEvent.ts"
import type { SchnorrOps } from "./Schnorr.ts"

/** What an attestation says, once its signature is known to be good. */
export interface OwnerAttestation {
  /** Public key of the owner, 64 hex. */
  readonly owner: string
  /** `""`, or clauses joined by `&`: `kind=N`, `created_at<N`, `created_at>N`. */
  readonly conditions: string
}

/** Name of the tag, its first element. */
export const TAG_NAME = "auth"

/** The bytes (as text) whose sha256 the owner signs. Empty conditions leave a trailing colon. */
export const preimage = (agentPubkey: string, conditions: string): string =>
  `nostr:agent-auth:${agentPubkey}:${conditions}`

/**
 * The tag as compact JSON. Throws a `RangeError` when `ownerKey` (64 hex) is no key, when the owner would attest itself or
 * when the conditions are not in canonical form: these are mistakes of the program, not of its input.
 */
export const attest = (
  schnorr: SchnorrOps,
  ownerKey: Redacted.Redacted<string>,
  agentPubkey: string,
  conditions = ""
): string => {
  const secret = hexToBytes(Redacted.value(ownerKey))
  const owner = schnorr.publicKey(secret)
  if (owner === agentPubkey) throw new RangeError("an owner cannot attest its own key")
  if (!areConditions(conditions)) throw new RangeError("conditions of an attestation are not in canonical form")
  const signature = schnorr.sign(Sha256.digest(preimage(agentPubkey, conditions)), secret)
  return JSON.stringify([TAG_NAME, owner, conditions, bytesToHex(signature)])
}

/** Checks a tag, given as JSON, for this agent. The failure says what is wrong, without quoting the tag. */
export const verify = (
  schnorr: SchnorrOps,
  tagJson: string,
  agentPubkey: string
): Result.Result<OwnerAttestation, string> => {
  const tag = parse(tagJson)
  return tag === undefined ? Result.fail("not a JSON array of four strings") : verifyTag(schnorr, tag, agentPubkey)
}

/** Checks a tag that was decoded already. */
export const verifyTag = (
  schnorr: SchnorrOps,
  tag: ReadonlyArray<string>,
  agentPubkey: string
): Result.Result<OwnerAttestation, string> => {
  const [name, owner, conditions, signature] = tag
  if (tag.length !== 4 || owner === undefined || conditions === undefined || signature === undefined)
    return Result.fail("not a JSON array of four strings")
  if (name !== TAG_NAME) return Result.fail("the first element is not `auth`")
  if (!HEX64.test(owner)) return Result.fail("the owner is not 64 lower-case hex digits")
  if (!HEX128.test(signature)) return Result.fail("the signature is not 128 lower-case hex digits")
  if (!areConditions(conditions)) return Result.fail("the conditions are not in canonical form")
  if (owner === agentPubkey) return Result.fail("an owner cannot attest its own key")
  return schnorr.verify(hexToBytes(signature), Sha256.digest(preimage(agentPubkey, conditions)), owner)
    ? Result.succeed({ owner, conditions })
    : Result.fail("the owner's signature does not belong to this key")
}

/** The attestation that an event carries for its author. Several `auth` tags count as none, as does a bad one. */
export const ofEvent = (
  schnorr: SchnorrOps,
  event: Pick<NostrEvent, "pubkey" | "tags">
): OwnerAttestation | undefined => {
  const [tag, ...others] = event.tags.filter((tag) => tag[0] === TAG_NAME)
  if (tag === undefined || others.length > 0) return undefined
  return Result.getOrUndefined(verifyTag(schnorr, tag, event.pubkey))
}

/** The tag to append to an event, or nothing for a key that nobody attested. */
export const eventTags = (authTag: Redacted.Redacted<string> | undefined): ReadonlyArray<Tag> => {
  const tag = authTag === undefined ? undefined : parse(Redacted.value(authTag))
  return tag === undefined ? [] : [tag]
}

const HEX64 = /^[0-9a-f]{64}$/
const HEX128 = /^[0-9a-f]{128}$/
const CLAUSE = /^(kind=|created_at<|created_at>)(0|[1-9][0-9]{0,9})$/
const MAX_KIND = 65_535
const MAX_CREATED_AT = 4_294_967_295

const areConditions = (conditions: string): boolean =>
  conditions === "" ||
  conditions.split("&").every((clause) => {
    const [, name, value] = CLAUSE.exec(clause) ?? []
    return name !== undefined && Number(value) <= (name === "kind=" ? MAX_KIND : MAX_CREATED_AT)
  })

const parse = (json: string): Tag | undefined => {
  try {
    const value: unknown = JSON.parse(json)
    const isTag = Array.isArray(value) && value.length === 4 && value.every((item) => typeof item === "string")
    return isTag ? (value as unknown as Tag) : undefined
  } catch {
    return undefined
  }
}
