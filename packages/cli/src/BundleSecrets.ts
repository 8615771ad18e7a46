/**
 * Why a bundle must not be published. Pure.
 */
import type { SecretFinding } from "@buzz-orchestra/runtime/SecretScan"
import { Array } from "effect"
import { SecretsInBundle } from "./CommandError.ts"

/** The reason, with file and line of each secret; `undefined` when none was found. */
export const secretsRefused = (
  directory: string,
  findings: ReadonlyArray<SecretFinding>
): SecretsInBundle | undefined => {
  const places = findings.map(({ kind, line, path }) => `${path}:${line} (${kind})`)
  return Array.isReadonlyArrayNonEmpty(places) ? new SecretsInBundle({ directory, places }) : undefined
}
