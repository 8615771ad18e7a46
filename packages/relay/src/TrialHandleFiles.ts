/**
 * `TrialHandleStore` on disk, so that another process can take down the trial of one that was killed, or watch it. One file
 * per trial, readable by its owner alone, in a directory that nobody else may enter.
 *
 * The keys that were made for the trial are in the file, encrypted (AES-256-GCM, WebCrypto) with a key that is not there. API
 * keys are not: a trial that is found again is given them again. Locks are this process's own.
 */
import {
  Clock,
  Context,
  Effect,
  FileSystem,
  Layer,
  Option,
  Path,
  type PlatformError,
  type Redacted,
  Result,
  Schema,
  Tracer
} from "effect"
import { SecureRandom } from "effect/crypto"
import * as KeyLocks from "./internal/keyLocks.ts"
import * as SavedTrial from "./internal/savedTrial.ts"
import * as Sealing from "./internal/sealing.ts"
import * as Sha256 from "./internal/sha256.ts"
import { HandleStoreFailed } from "./ProvisioningError.ts"
import type { TrialHandle } from "./TrialHandle.ts"
import { type TrialKey, TrialHandleStore } from "./TrialHandleStore.ts"

/** Where the files are, what encrypts them, and what else they say. */
export interface TrialHandleFilesOptions {
  /** Made when missing. */
  readonly directory: string
  /** 64 hex digits, from good randomness. */
  readonly key: Redacted.Redacted<string>
  /** Stands in the files as it is, such as which process made the trial. No secret. */
  readonly note?: string
}

/** A trial as its file says without the key. */
export interface SavedTrialFacts extends TrialKey {
  readonly file: string
  /** As it was given when the trial was saved. */
  readonly note: string | undefined
  readonly channelId: string
  /** The relay as the agents dial it. */
  readonly relayUrl: string
  /** ISO 8601. */
  readonly savedAt: string
}

type Needs = FileSystem.FileSystem | Path.Path | SecureRandom.SecureRandom

/** The store. Nothing is read or written before it is asked; fails when the key is none. */
export const layer = (options: TrialHandleFilesOptions): Layer.Layer<TrialHandleStore, HandleStoreFailed, Needs> =>
  Layer.effect(
    TrialHandleStore,
    Effect.suspend(() => make(options))
  )

/** What the files of a directory say, without any key. A directory that is not there has none. */
export const facts = Effect.fn("TrialHandleFiles.facts")(function* (
  directory: string
): Effect.fn.Return<ReadonlyArray<SavedTrialFacts>, HandleStoreFailed, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (!(yield* fs.exists(directory).pipe(failing(directory)))) return []
  yield* checkPrivate(directory, "directory")
  const names = yield* fs.readDirectory(directory).pipe(failing(directory))
  return yield* Effect.forEach(names.filter((name) => name.endsWith(SUFFIX)).toSorted(), (name) => {
    const file = path.join(directory, name)
    return Effect.map(readFile(file), ({ channelId, note, relayUrl, runId, savedAt, trialId }): SavedTrialFacts => ({
      file,
      runId,
      trialId,
      note,
      channelId,
      relayUrl,
      savedAt
    }))
  })
})

const make = Effect.fnUntraced(function* ({ directory, key, note }: TrialHandleFilesOptions) {
  // Without the span in which the layer was built: a method stands in its caller's.
  const context = Context.omit(Tracer.ParentSpan)(yield* Effect.context<Needs>())
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const sealing = Sealing.make(key, yield* SecureRandom.SecureRandom)
  if (sealing === undefined) return yield* failed(directory, "the key that encrypts it is not 64 hex digits")
  const fileOf = (trial: TrialKey) => path.join(directory, nameOf(trial))

  const put = Effect.fn("TrialHandleStore.put")(function* (handle: TrialHandle) {
    const file = fileOf(handle)
    yield* fs.makeDirectory(directory, { recursive: true, mode: PRIVATE_DIRECTORY }).pipe(failing(file))
    yield* checkPrivate(directory, "directory")
    const savedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    const secrets = yield* sealing.seal(SavedTrial.secretsOf(handle), KeyLocks.nameOf(handle))
    const text = `${JSON.stringify(SavedTrial.fileOf(handle, { note, savedAt, secrets }), null, 2)}\n`
    // Whole or not at all: a process may end between any two bytes.
    const unfinished = `${file}.${savedAt.replaceAll(":", "")}.part`
    yield* fs.writeFileString(unfinished, text, { mode: PRIVATE_FILE, flag: "wx" }).pipe(
      Effect.andThen(fs.rename(unfinished, file)),
      Effect.onError(() => Effect.ignore(fs.remove(unfinished, { force: true }))),
      failing(file)
    )
  })

  const get = Effect.fn("TrialHandleStore.get")(function* (trial: TrialKey) {
    const file = fileOf(trial)
    if (!(yield* fs.exists(file).pipe(failing(file)))) return undefined
    yield* checkPrivate(directory, "directory")
    const saved = yield* readFile(file)
    const opened = yield* Effect.result(sealing.open(saved.secrets, KeyLocks.nameOf(trial)))
    const secrets = Option.getOrUndefined(Option.flatMap(Result.getSuccess(opened), SavedTrial.parseSecrets))
    const handle = secrets === undefined ? undefined : SavedTrial.handleOf(saved, secrets)
    return handle ?? (yield* failed(file, "its secrets are of another key, or the file was changed"))
  })

  return TrialHandleStore.of({
    get: (trial) => Effect.provide(get(trial), context),
    put: (handle) => Effect.provide(put(handle), context),
    remove: Effect.fn("TrialHandleStore.remove")((trial: TrialKey) =>
      fs.remove(fileOf(trial), { force: true }).pipe(failing(fileOf(trial)))
    ),
    list: Effect.provide(facts(directory), context),
    withLock: KeyLocks.make()
  })
})

const readFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  yield* checkPrivate(file, "file")
  const text = yield* fs.readFileString(file).pipe(failing(file))
  const saved = Schema.decodeOption(SavedTrial.SavedFile)(text)
  return Option.isSome(saved) ? saved.value : yield* failed(file, "it is no saved trial of a version that is known")
})

/** Whoever could read what is here, or put something else in its place, has had the time to. */
const checkPrivate = Effect.fnUntraced(function* (path: string, what: "directory" | "file") {
  const fs = yield* FileSystem.FileSystem
  const { mode } = yield* fs.stat(path).pipe(failing(path))
  const others = mode & 0o077
  if (others !== 0) {
    const allowed = what === "directory" ? "700" : "600"
    return yield* failed(path, `others may enter or read this ${what}; chmod ${allowed} it if nobody did`)
  }
})

/** Readable for people, different for every trial: an id may hold what no name of a file does. */
const nameOf = ({ runId, trialId }: TrialKey): string => {
  const readable = trialId.replaceAll(/[^\w.-]+/g, "-").slice(0, 60)
  return `${readable}-${Sha256.hex(KeyLocks.nameOf({ runId, trialId })).slice(0, 16)}${SUFFIX}`
}

const SUFFIX = ".trial.json"
const PRIVATE_DIRECTORY = 0o700
const PRIVATE_FILE = 0o600

const failed = (file: string, detail: string, cause?: unknown) =>
  new HandleStoreFailed({ file, detail, ...(cause === undefined ? {} : { cause }) })

const failing =
  (file: string) =>
  <A, R>(effect: Effect.Effect<A, PlatformError.PlatformError, R>): Effect.Effect<A, HandleStoreFailed, R> =>
    Effect.mapError(effect, (cause) => failed(file, cause.message, cause))
