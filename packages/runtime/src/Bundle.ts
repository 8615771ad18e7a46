/**
 * Reads what a trial left in its directory, as much of it as is there: a killed harness leaves less, an older one other things.
 * Nothing is concluded here.
 */
import type { Dialect } from "@buzz-orchestra/manifest/Dialect"
import { Effect, FileSystem, Option, Path, type PlatformError, Schema } from "effect"
import { ArtifactManifest } from "./ArtifactManifest.ts"
import { ARTIFACTS, BUNDLE, CONFIG, EVENTS, MANIFEST, RECEIPTS, RESULT, SUMMARY, TRANSCRIPT } from "./BundleFiles.ts"
import * as EventLine from "./EventLine.ts"
import type { TrialConfig } from "./HarborTrial.ts"
import { Receipt } from "./Receipt.ts"
import * as TrialDirectory from "./TrialDirectory.ts"
import { TrialSummary } from "./TrialSummary.ts"

/** The directory holds no bundle, or not enough of one for what was asked. */
export class BundleUnreadable extends Schema.TaggedError<BundleUnreadable>()("BundleUnreadable", {
  directory: Schema.String,
  detail: Schema.String
}) {}

/** `manifest.json`: the condition as it was hashed. */
export interface BundleManifest {
  readonly sha256: string
  readonly dialect: Dialect
  /** The text that was hashed. */
  readonly canonical: string
  /** The same, decoded. */
  readonly value: unknown
}

/** `transcript.json`. */
export const Transcript = Schema.Struct({
  channel_id: Schema.String,
  message_count: Schema.Int,
  truncated: Schema.Boolean,
  messages: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      kind: Schema.Int,
      created_at: Schema.Int,
      pubkey: Schema.String,
      author: Schema.String,
      author_role: Schema.String,
      content: Schema.String,
      reply_to_event_id: Schema.NullOr(Schema.String),
      mentioned_pubkeys: Schema.Array(Schema.String),
      tags: Schema.Array(Schema.Array(Schema.String))
    })
  )
})
/** `transcript.json`. */
export type Transcript = typeof Transcript.Type

/** A document that is there and is not what it should be. */
export interface Malformed {
  readonly path: string
  /** From 1, of a file of lines. */
  readonly line?: number
  readonly problem: string
}

/** What is there. A document that is missing or malformed is absent; the malformed ones are listed. */
export interface Bundle {
  readonly directory: TrialDirectory.TrialDirectory
  /** Every finished file, relative and sorted. */
  readonly files: ReadonlyArray<string>
  /** Files that were being written when the harness ended. */
  readonly unfinished: ReadonlyArray<string>
  readonly summary?: TrialSummary
  readonly config?: TrialConfig
  readonly hasResult: boolean
  readonly manifest?: BundleManifest
  readonly transcript?: Transcript
  readonly receipts: ReadonlyArray<Receipt>
  /** In the order in which they happened. */
  readonly events: ReadonlyArray<EventLine.ReadEvent>
  /** Bytes at the end of the events that make no line: the harness ended while it wrote. */
  readonly isTorn: boolean
  readonly malformed: ReadonlyArray<Malformed>
}

/**
 * Reads the bundle of a trial directory, which may also be named by its `agent/buzz`; fails when it holds nothing of one.
 */
export const read = Effect.fn("Bundle.read")(function* (
  path: string
): Effect.fn.Return<Bundle, BundleUnreadable, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const unreadable = ({ message }: PlatformError.PlatformError) =>
    new BundleUnreadable({ directory: path, detail: message })
  if (!(yield* Effect.orElseSucceed(fs.exists(path), () => false)))
    return yield* new BundleUnreadable({ directory: path, detail: "there is no such directory" })
  return yield* Effect.mapError(readOpened(yield* trialDirectoryOf(path)), unreadable).pipe(
    Effect.filterOrFail(
      ({ files }) => files.some((name) => KNOWN.includes(name)),
      () =>
        new BundleUnreadable({
          directory: path,
          detail: `it is no trial directory: neither ${CONFIG} nor ${BUNDLE} with a trial's documents is in it`
        })
    )
  )
})

/** The trial directory that is meant: the directory itself, or the one whose bundle it is. */
const trialDirectoryOf = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const outer = path.resolve(directory, "..", "..")
  if (path.join(outer, BUNDLE) !== path.resolve(directory)) return directory
  return (yield* Effect.orElseSucceed(fs.exists(path.join(directory, BUNDLE)), () => false)) ? directory : outer
})

/** Any of these makes a directory a bundle. */
const KNOWN: ReadonlyArray<string> = [SUMMARY, EVENTS, MANIFEST, CONFIG]

const readOpened = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* TrialDirectory.open(path)
  const files = yield* directory.files
  const unfinished = yield* directory.unfinished
  const malformed: Array<Malformed> = []
  const textOf = (name: string) =>
    files.includes(name) ? Effect.asSome(fs.readFileString(directory.at(name))) : Effect.succeedNone
  const json = Effect.fnUntraced(function* <A>(name: string, decode: (value: unknown) => A) {
    return Option.flatMap(yield* textOf(name), (text) => attempt(name, malformed, () => decode(JSON.parse(text))))
  })
  const summary = yield* json(SUMMARY, Schema.decodeUnknownSync(TrialSummary))
  const config = yield* json(CONFIG, (value) => value as TrialConfig)
  const transcript = yield* json(TRANSCRIPT, Schema.decodeUnknownSync(Transcript))
  yield* json(ARTIFACTS, Schema.decodeUnknownSync(ArtifactManifest))
  const manifest = Option.flatMap(yield* textOf(MANIFEST), (text) =>
    attempt(MANIFEST, malformed, () => manifestOf(text))
  )
  const receipts = Option.getOrElse(yield* textOf(RECEIPTS), () => "")
  const lines = Option.getOrElse(yield* textOf(EVENTS), () => "").split("\n")
  const torn = lines.pop() ?? ""
  const bundle: Bundle = {
    directory,
    files,
    unfinished,
    hasResult: files.includes(RESULT),
    receipts: linesOf(RECEIPTS, receipts.split("\n").slice(0, -1), malformed, (line) =>
      decodeReceipt(JSON.parse(line))
    ),
    events: linesOf(EVENTS, lines, malformed, EventLine.parse),
    isTorn: torn !== "",
    malformed,
    ...(Option.isSome(summary) ? { summary: summary.value } : {}),
    ...(Option.isSome(config) ? { config: config.value } : {}),
    ...(Option.isSome(transcript) ? { transcript: transcript.value } : {}),
    ...(Option.isSome(manifest) ? { manifest: manifest.value } : {})
  }
  return bundle
})

const decodeReceipt = Schema.decodeUnknownSync(Receipt)

const attempt = <A>(path: string, malformed: Array<Malformed>, read: () => A, line?: number): Option.Option<A> => {
  try {
    return Option.some(read())
  } catch (cause) {
    const problem = (cause instanceof Error ? cause.message : String(cause)).split("\n").slice(0, 3).join(" ")
    malformed.push({ path, problem, ...(line === undefined ? {} : { line }) })
    return Option.none()
  }
}

const linesOf = <A>(
  path: string,
  lines: ReadonlyArray<string>,
  malformed: Array<Malformed>,
  parse: (line: string) => A
): ReadonlyArray<A> =>
  lines.flatMap((line, index) => Option.toArray(attempt(path, malformed, () => parse(line), index + 1)))

/** The text that was hashed is a part of the file's own text: parsing it and writing it again might change it. */
const manifestOf = (text: string): BundleManifest => {
  const [, sha256, dialect, canonical] =
    /^\{"sha256":"([0-9a-f]{64})","dialect":"(\w+)","manifest":(.*)\}\n$/s.exec(text) ?? []
  if (sha256 === undefined || canonical === undefined) throw new Error("it is not {sha256, dialect, manifest}")
  return { sha256, dialect: dialect as Dialect, canonical, value: JSON.parse(canonical) as unknown }
}
