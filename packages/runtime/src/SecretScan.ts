/**
 * Looks once more for secrets in what lies on disk already: whatever `Redaction` missed, or never saw, is found by file and line.
 * Pure; a file comes in pieces of any size, and memory does not grow with it.
 *
 * Stricter about shapes than `Redaction`, which had rather take out too much: what is found here is a secret beyond doubt. Public
 * keys, event ids and digests are bare hexadecimal digits and have no shape.
 */
import { Schema } from "effect"
import { lineFeeds } from "./internal/lineFeeds.ts"
import * as Redaction from "./Redaction.ts"

/** A secret in a file. */
export const SecretFinding = Schema.Struct({
  /** Below the directory that was scanned. */
  path: Schema.String,
  /** From 1. */
  line: Schema.Int,
  /** What it is: `trial-credential` for one that was known, else the shape it has. */
  kind: Schema.String
})
/** A secret in a file. */
export type SecretFinding = typeof SecretFinding.Type

/** What a scan of a bundle found. */
export const SecretScan = Schema.Struct({
  /** Whether no secret was found; null when not every file could be looked at. */
  clean: Schema.NullOr(Schema.Boolean),
  findings: Schema.Array(SecretFinding),
  /**
   * Words of 64 hexadecimal digits, of kind `hex-64`, that no document of the trial explains as a public key, an id or a digest.
   * They do not count: most are digests. The first of each file are listed.
   */
  review: Schema.Array(SecretFinding)
})
/** What a scan of a bundle found. */
export type SecretScan = typeof SecretScan.Type

/** Where in a file a scan is. */
export interface Scan {
  readonly held: Uint8Array
  /** Line feeds before what is held. */
  readonly lines: number
  readonly findings: ReadonlyArray<Omit<SecretFinding, "path">>
}

/** The beginning of a file. */
export const initial: Scan = { held: Redaction.NOTHING_HELD, lines: 0, findings: [] }

/** Takes the next bytes of the file. */
export const feed = (redactor: Redaction.Redactor, scan: Scan, bytes: Uint8Array): Scan => {
  const [held, whole] = Redaction.complete(redactor, scan.held, bytes)
  return { ...whole.reduce((before, part) => look(redactor, before, part), scan), held }
}

/** Takes the end of the file and returns what was found, each kind once per line. */
export const finish = (redactor: Redaction.Redactor, scan: Scan): ReadonlyArray<Omit<SecretFinding, "path">> => {
  const { findings } = look(redactor, scan, scan.held)
  const seen = new Map(findings.map((finding) => [`${finding.line} ${finding.kind}`, finding]))
  return [...seen.values()].toSorted((a, b) => a.line - b.line)
}

/** Bytes after the prefix that make a token a key beyond doubt. */
const LEAST: Readonly<Record<Redaction.SecretKind, number>> = {
  "trial-credential": Redaction.MIN_SECRET_LENGTH,
  "anthropic-key": 7 + 20,
  "openai-key": 3 + 32,
  "databricks-token": 4 + 32,
  "nostr-private-key": 5 + 20,
  "bearer-token": 16,
  "google-key": 4 + 30,
  "github-token": 4 + 20
}

const look = (redactor: Redaction.Redactor, scan: Scan, bytes: Uint8Array): Scan => {
  const found = Redaction.find(redactor, bytes).filter(({ end, kind, start }) => end - start >= LEAST[kind])
  const findings = found.map(({ kind, start }) => ({ line: scan.lines + 1 + lineFeeds(bytes, start), kind }))
  return { ...scan, lines: scan.lines + lineFeeds(bytes, bytes.length), findings: [...scan.findings, ...findings] }
}
