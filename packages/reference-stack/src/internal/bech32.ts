/**
 * Public keys in the form people read, `npub1…` (NIP-19 over bech32, BIP-173).
 */

const CHARSET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
const PREFIX = "npub"

/** `npub1…` of a public key of 64 hex digits. */
export const npubEncode = (pubkey: string): string => {
  const words = regroup(pubkey.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? [], 8, 5, true) ?? []
  const values = [...expand(PREFIX), ...words]
  const sum = polymod([...values, 0, 0, 0, 0, 0, 0]) ^ 1
  const checksum = [0, 1, 2, 3, 4, 5].map((index) => (sum >> (5 * (5 - index))) & 31)
  return `${PREFIX}1${[...words, ...checksum].map((word) => CHARSET[word]).join("")}`
}

/** The public key (64 hex) of an `npub1…`; `undefined` when it is none. */
export const npubDecode = (text: string): string | undefined => {
  if (!text.startsWith(`${PREFIX}1`)) return undefined
  const words = Array.from(text.slice(PREFIX.length + 1), (character) => CHARSET.indexOf(character))
  if (words.length < 6 || words.includes(-1) || polymod([...expand(PREFIX), ...words]) !== 1) return undefined
  const bytes = regroup(words.slice(0, -6), 5, 8, false)
  return bytes?.length === 32 ? bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("") : undefined
}

const expand = (prefix: string): ReadonlyArray<number> => {
  const codes = [...prefix].map((character) => character.codePointAt(0) ?? 0)
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)]
}

const polymod = (values: ReadonlyArray<number>): number => {
  let sum = 1
  for (const value of values) {
    const top = sum >>> 25
    sum = ((sum & 0x1ffffff) << 5) ^ value
    for (const [index, term] of GENERATOR.entries()) if (((top >> index) & 1) === 1) sum ^= term
  }
  return sum
}

const regroup = (
  values: ReadonlyArray<number>,
  from: number,
  to: number,
  pad: boolean
): ReadonlyArray<number> | undefined => {
  const output: Array<number> = []
  let pending = 0
  let bits = 0
  for (const value of values) {
    pending = (pending << from) | value
    bits += from
    while (bits >= to) {
      bits -= to
      output.push((pending >> bits) & ((1 << to) - 1))
    }
    pending &= (1 << bits) - 1
  }
  if (pad) return bits > 0 ? [...output, (pending << (to - bits)) & ((1 << to) - 1)] : output
  return pending === 0 && bits < from ? output : undefined
}
