/**
 * A condition: the immutable input of an experiment, with its identity.
 */
import type { Dialect } from "./Dialect.ts"
import type { ExperimentManifest } from "./ExperimentManifest.ts"
import type { ManifestWarning } from "./ManifestError.ts"

/** What reading a manifest returns. Two conditions are the same exactly when their `sha256` is. */
export interface Condition {
  /** The manifest with its defaults filled in. */
  readonly manifest: ExperimentManifest
  /** The dialect it was read as: given by the caller, or found from what the document uses. */
  readonly dialect: Dialect
  /** 64 lower-case hex digits: sha256 over the UTF-8 bytes of `canonical`. */
  readonly sha256: string
  /** The canonical JSON text, byte for byte what the Python harness hashes. */
  readonly canonical: string
  /** What is allowed but probably not meant, in the order of the document. */
  readonly warnings: ReadonlyArray<ManifestWarning>
  /** Whether the whole roster is one agent. */
  readonly isSolo: boolean
  /** The absolute path of the file it was read from; absent when it was a decoded value. */
  readonly source?: string
  /** The directory of `source`; pinned artifacts lie relative to it unless the caller has another root. */
  readonly directory?: string
}
