/**
 * Reads every file of a trial directory once: for its digest, for secrets, and for what may be one.
 */
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { Effect, FileSystem, Stream } from "effect"
import { CONFIG, EVENTS, EVIDENCE, MANIFEST, RECEIPTS, SUMMARY, TRANSCRIPT } from "../BundleFiles.ts"
import type { Redactor } from "../Redaction.ts"
import * as SecretScan from "../SecretScan.ts"
import type { TrialDirectory } from "../TrialDirectory.ts"
import * as BareHex from "./bareHex.ts"

/** What was found in the files. */
export interface Inspection {
  /** sha256 by name, 64 lower-case hex digits. */
  readonly digests: Readonly<Record<string, string>>
  readonly findings: ReadonlyArray<SecretScan.SecretFinding>
  readonly review: ReadonlyArray<SecretScan.SecretFinding>
}

/** What a file holds. */
interface Read {
  readonly path: string
  readonly digest: string
  readonly findings: ReadonlyArray<SecretScan.SecretFinding>
  /** The first of the lines on which a word of 64 hexadecimal digits stands. */
  readonly words: ReadonlyMap<string, number>
  /** Those that are whole texts. */
  readonly whole: ReadonlyArray<string>
}

export const inspectFiles = Effect.fnUntraced(function* (
  directory: Pick<TrialDirectory, "at">,
  files: ReadonlyArray<string>,
  redactor: Redactor
) {
  const read = yield* Effect.forEach(files, (path) => readFile(directory.at(path), path, redactor))
  const inspection: Inspection = {
    digests: Object.fromEntries(read.map(({ digest, path }) => [path, digest])),
    findings: read.flatMap(({ findings }) => findings),
    review: reviewOf(read)
  }
  return inspection
})

const readFile = Effect.fnUntraced(function* (file: string, path: string, redactor: Redactor) {
  const fs = yield* FileSystem.FileSystem
  const hash = Sha256.incremental()
  const hex = BareHex.search()
  const words = new Map<string, number>()
  const whole: Array<string> = []
  let scan = SecretScan.initial
  const take = ({ digits, isWhole, line }: BareHex.BareHex) => {
    if (isWhole && EXPLAINING.has(path)) whole.push(digits)
    if (words.size < WORDS && !words.has(digits)) words.set(digits, line)
  }
  yield* Stream.runForEach(fs.stream(file), (bytes) =>
    Effect.sync(() => {
      hash.update(bytes)
      scan = SecretScan.feed(redactor, scan, bytes)
      hex.update(bytes).forEach(take)
    })
  )
  hex.finish().forEach(take)
  const findings = SecretScan.finish(redactor, scan).map((finding) => ({ path, ...finding }))
  const found: Read = { path, digest: hash.digest(), findings, words, whole }
  return found
})

/** Words of one file that are looked at: a file may be nothing but digests. */
const WORDS = 10_000

/** Words of one file that are listed. */
const LISTED = 20

/** The runtime's own documents. A key, an id or a digest is a whole text in them, whatever anybody said. */
const EXPLAINING: ReadonlySet<string> = new Set([MANIFEST, CONFIG, EVENTS, TRANSCRIPT, EVIDENCE])

/** Those in which every such word is a digest. */
const DIGESTS: ReadonlySet<string> = new Set([MANIFEST, RECEIPTS, SUMMARY])

const reviewOf = (read: ReadonlyArray<Read>): Inspection["review"] => {
  const explained = new Set(read.flatMap(({ whole }) => whole))
  return read
    .filter(({ path }) => !DIGESTS.has(path))
    .flatMap(({ path, words }) =>
      [...words]
        .filter(([word]) => !explained.has(word))
        .slice(0, LISTED)
        .map(([, line]) => ({ path, line, kind: "hex-64" }))
    )
}
