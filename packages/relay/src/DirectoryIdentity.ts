/**
 * People and bots that tasks find on a relay beside the team: the same keys for the same owner in every run, without a secret
 * being stored anywhere. Pure.
 */
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js"
import { Redacted } from "effect"
import type { Identity } from "./Identity.ts"
import * as Sha256 from "./internal/sha256.ts"
import type { SchnorrOps } from "./Schnorr.ts"

/** Somebody who is to be found on the relay. */
export interface DirectoryEntry {
  /** Display name. Several may have the same. */
  readonly name: string
  readonly role: "user" | "bot"
  /** Tells entries of one name apart; default: the name. The key follows from it. */
  readonly identityId?: string
  /** A profile with a text about its owner is published anew in every trial, so that the text is this task's. */
  readonly about?: string
  /** Whether the entry is a member of the trial's channel. */
  readonly isChannelMember?: boolean
}

/** An entry with its key. */
export interface DirectoryIdentity {
  readonly entry: DirectoryEntry
  readonly identity: Identity
}

/** What the key of an entry is derived from. */
export const identityIdOf = (entry: DirectoryEntry): string => entry.identityId ?? entry.name

/** The identity id of the user of a task that names its user. */
export const taskUserId = (taskName: string): string => `task-user:${taskName}`

/**
 * The key of an identity: `sha256("buzz-benchmark-directory-v1" NUL owner's secret NUL identity id)` as a number, modulo the
 * order of the curve less one, plus one. Nobody attests it yet.
 */
export const derive = (schnorr: SchnorrOps, ownerKey: Redacted.Redacted<string>, identityId: string): Identity => {
  const owner = hexToBytes(Redacted.value(ownerKey))
  const digest = Sha256.digest(concatBytes(utf8ToBytes(`${DOMAIN}\0`), owner, utf8ToBytes(`\0${identityId}`)))
  const scalar = (BigInt(`0x${bytesToHex(digest)}`) % (ORDER - 1n)) + 1n
  const secret = hexToBytes(scalar.toString(16).padStart(64, "0"))
  return {
    pubkey: schnorr.publicKey(secret),
    secretKey: Redacted.make(bytesToHex(secret), { label: "secret key" }),
    authTag: undefined
  }
}

const DOMAIN = "buzz-benchmark-directory-v1"

/** Of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
