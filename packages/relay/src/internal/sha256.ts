/** sha256 over text or bytes, synchronous, without a platform. */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"

/** 32 bytes. Text is hashed as UTF-8. */
export const digest = (input: string | Uint8Array): Uint8Array =>
  sha256(typeof input === "string" ? utf8ToBytes(input) : input)

/** 64 hex digits. Text is hashed as UTF-8. */
export const hex = (input: string | Uint8Array): string => bytesToHex(digest(input))
