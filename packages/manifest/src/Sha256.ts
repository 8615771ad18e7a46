/**
 * SHA-256 through `node:crypto`: the one module of this package that imports from Node, because Effect's digest takes
 * its whole input at once and a pinned file is hashed while it is read.
 */
import { createHash } from "node:crypto"

/** The digest of a text's UTF-8 bytes or of bytes, as 64 lower-case hex digits. */
export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex")

/** A digest in progress: `update` with each part in order, then `digest` once. */
export const incremental = (): {
  readonly update: (part: Uint8Array) => void
  readonly digest: () => string
} => {
  const hash = createHash("sha256")
  return {
    update: (part) => {
      hash.update(part)
    },
    digest: () => hash.digest("hex")
  }
}
