/**
 * The trial directory on this machine. Every document appears whole or not at all: it is written beside its place and then
 * renamed, so that a harness killed at any moment leaves nothing half-written.
 */
import { Effect, FileSystem, Path, PlatformError, Stream } from "effect"
import { ARTIFACTS, BUNDLE, COLLECTED, EXCEPTION, PHASE_LOGS, RESULT, TRAJECTORY, VERIFIER } from "./BundleFiles.ts"
import { filesBelow } from "./internal/filesBelow.ts"

/** Documents that are written late: an earlier trial's would stand for one that is killed before. */
const LATE: ReadonlySet<string> = new Set([RESULT, EXCEPTION, TRAJECTORY, ARTIFACTS])
/** Folders in which everything is a trial's own. */
const OWN = [BUNDLE, COLLECTED]

/** An opened trial directory. Names are file names below it. */
export interface TrialDirectory {
  /** Absolute path. */
  readonly path: string
  /** Where a file of this name lies. */
  at(name: string): string
  /** Makes the folders that documents of a trial lie in. */
  readonly makeFolders: Effect.Effect<void, PlatformError.PlatformError>
  /** Writes a file whole, making its folder; `mode` is octal, default `0o644`. */
  write(
    name: string,
    content: string,
    options?: { readonly mode?: number }
  ): Effect.Effect<void, PlatformError.PlatformError>
  /** The same from a stream, for what is too large to be held. */
  writeStream<E>(
    name: string,
    content: Stream.Stream<Uint8Array, E>
  ): Effect.Effect<void, E | PlatformError.PlatformError>
  /**
   * Adds to the end of a file, making it when it is missing: for what is written as it happens. `anew` begins the file, whatever
   * was in it.
   */
  append(
    name: string,
    text: string,
    options?: { readonly anew?: boolean }
  ): Effect.Effect<void, PlatformError.PlatformError>
  /** Removes what an earlier trial left here that could be taken for this one's. */
  readonly clear: Effect.Effect<void, PlatformError.PlatformError>
  /** Writes a value as JSON, indented by two, with a newline at the end. A number that is none is refused by its place. */
  writeJson(name: string, value: unknown): Effect.Effect<void, PlatformError.PlatformError>
  /** Every file in it, relative and sorted. Unfinished ones are left out. */
  readonly files: Effect.Effect<ReadonlyArray<string>, PlatformError.PlatformError>
  /** Files that were being written when a harness was killed, relative and sorted. */
  readonly unfinished: Effect.Effect<ReadonlyArray<string>, PlatformError.PlatformError>
}

/** Ends the name of a file that is being written. */
export const UNFINISHED = ".unfinished"

/** `verifier` and `artifacts` are where Harbor's tools look. */
const FOLDERS = [PHASE_LOGS, COLLECTED, VERIFIER]

/** Opens the directory, making it when it is missing. What is in it stays until it is written again. */
export const open = Effect.fn("TrialDirectory.open")(function* (
  directory: string
): Effect.fn.Return<TrialDirectory, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(directory)
  yield* fs.makeDirectory(root, { recursive: true })
  const at = (name: string) => path.join(root, name)

  /** Its folder, which may be new or could not be made before. */
  const makeRoom = Effect.fnUntraced(function* (name: string) {
    const folder = path.dirname(at(name))
    if (!(yield* fs.exists(folder))) yield* fs.makeDirectory(folder, { recursive: true })
  })

  const write: TrialDirectory["write"] = Effect.fn("TrialDirectory.write")(function* (name, content, options) {
    yield* makeRoom(name)
    const unfinished = `${at(name)}${UNFINISHED}`
    yield* fs.writeFileString(unfinished, content, { mode: options?.mode ?? 0o644 })
    // An existing file keeps its mode when it is opened for writing.
    yield* fs.chmod(unfinished, options?.mode ?? 0o644)
    yield* fs.rename(unfinished, at(name))
  })

  const all = filesBelow(root).pipe(
    Effect.map((found) => found.flatMap(({ kind, name }) => (kind === "file" ? [name] : []))),
    Effect.provideService(FileSystem.FileSystem, fs),
    Effect.provideService(Path.Path, path)
  )

  return {
    path: root,
    at,
    makeFolders: Effect.forEach(FOLDERS, (folder) => fs.makeDirectory(at(folder), { recursive: true }), {
      discard: true
    }),
    write,
    writeStream: (name, content) => {
      const unfinished = `${at(name)}${UNFINISHED}`
      return Effect.gen(function* () {
        yield* makeRoom(name)
        const file = yield* fs.open(unfinished, { flag: "w" })
        yield* Stream.runForEach(content, (bytes) => file.writeAll(bytes))
      }).pipe(
        Effect.scoped,
        Effect.andThen(fs.rename(unfinished, at(name))),
        Effect.onError(() => Effect.ignore(fs.remove(unfinished, { force: true })))
      )
    },
    append: (name, text, options) => fs.writeFileString(at(name), text, { flag: options?.anew === true ? "w" : "a" }),
    clear: Effect.flatMap(all, (names) =>
      Effect.forEach(
        names.filter((name) => LATE.has(name) || isOwn(name) || name.endsWith(UNFINISHED)),
        (name) => fs.remove(at(name)),
        { discard: true }
      )
    ),
    writeJson: (name, value) => {
      const place = notFinite(value)
      if (place === undefined) return write(name, `${JSON.stringify(value, undefined, 2)}\n`)
      return Effect.fail(
        PlatformError.badArgument({
          module: "TrialDirectory",
          method: "writeJson",
          description: `${place} of ${name} is a number that is not finite`
        })
      )
    },
    files: Effect.map(all, (names) => names.filter((name) => !name.endsWith(UNFINISHED))),
    unfinished: Effect.map(all, (names) => names.filter((name) => name.endsWith(UNFINISHED)))
  }
})

const isOwn = (name: string): boolean => OWN.some((folder) => name.startsWith(`${folder}/`))

/** Where a value holds NaN or an infinity, which JSON would turn into null, such as `totals.cost_usd`. */
const notFinite = (value: unknown): string | undefined => {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : ""
  if (value === null || typeof value !== "object") return undefined
  for (const [name, field] of Object.entries(value)) {
    const inside = notFinite(field)
    if (inside !== undefined) return inside === "" ? name : `${name}.${inside}`
  }
  return undefined
}
