/**
 * The programs of a stack in one directory of this machine, by content: what a container can be given read-only instead of
 * being sent every byte. The next trial with the same stack finds the directory there.
 */
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { ByteSize, Clock, Config, Duration, Effect, FileSystem, Option, Path, type PlatformError } from "effect"
import { randomMarker } from "../internal/randomMarker.ts"
import { sha256 } from "../internal/sha256.ts"
import { FORWARDER, type StackFiles } from "../StackFiles.ts"

/** A directory with exactly the programs of a stack, each with mode 0755. */
export interface CachedStack {
  readonly directory: string
  /** sha256 over names and contents, 64 hex digits. */
  readonly digest: string
}

/** Directories that no trial used for so long are removed. */
const KEPT = Duration.days(30)

/** Time of every copy. */
const COPIED = new Date(1000)

const CONCURRENCY = 4

const variable = (name: string) => Config.String(name).pipe(Config.withDefault(""))

/** `$XDG_CACHE_HOME/buzz-orchestra/stacks`, by default in `~/.cache`. */
const cacheRoot = Effect.gen(function* () {
  const path = yield* Path.Path
  // Every variable has a default, so reading them cannot fail.
  const chosen = yield* Effect.orDie(Config.all({ cache: variable("XDG_CACHE_HOME"), home: variable("HOME") }))
  const cache = path.isAbsolute(chosen.cache) ? chosen.cache : path.join(chosen.home || "/tmp", ".cache")
  return path.join(cache, "buzz-orchestra", "stacks")
})

/**
 * Finds or makes the stack's directory. What is there and was changed is made anew. Fails when a program
 * or the cache cannot be read or written.
 */
export const cacheStack = Effect.fn("StackCache.cacheStack")(function* (
  files: StackFiles
): Effect.fn.Return<CachedStack, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = yield* cacheRoot
  const programs = Object.entries(files.programs).concat(
    files.forwarder === undefined ? [] : [[FORWARDER, files.forwarder]]
  )
  const digests = yield* Effect.forEach(programs, ([, source]) => sha256(fs.stream(source)), {
    concurrency: CONCURRENCY
  })
  const wanted = programs.map(([name, source], at) => ({ name, source, digest: digests[at] as string }))
  const digest = Sha256.sha256(
    wanted
      .map((program) => `${program.name} ${program.digest}\n`)
      .toSorted()
      .join("")
  )
  const directory = path.join(root, digest)
  if (!(yield* isIntact(directory, wanted))) yield* fill(root, directory, wanted)
  const now = yield* Clock.currentTimeMillis
  yield* fs.utimes(directory, new Date(now), new Date(now))
  return { directory, digest }
})

interface Program {
  readonly name: string
  readonly source: string
  readonly digest: string
}

/** Whoever changes a copy changes its time, too; the bytes are compared inside the environment in any case. */
const isIntact = Effect.fnUntraced(function* (directory: string, wanted: ReadonlyArray<Program>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const same = yield* Effect.forEach(wanted, ({ name, source }) =>
    Effect.gen(function* () {
      const [copy, original] = [yield* fs.stat(path.join(directory, name)), yield* fs.stat(source)]
      const time = Option.map(copy.mtime, (date) => date.getTime())
      return ByteSize.Equivalence(copy.size, original.size) && Option.contains(time, COPIED.getTime())
    }).pipe(Effect.orElseSucceed(() => false))
  )
  return same.every(Boolean)
})

/** Appears under its name only when it is complete: another process may make the same one at the same time. */
const fill = Effect.fnUntraced(function* (root: string, directory: string, wanted: ReadonlyArray<Program>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(root, { recursive: true })
  yield* Effect.ignore(prune(root))
  const aside = `${directory}.${(yield* randomMarker).text.slice(1)}`
  const discard = Effect.ignore(fs.remove(aside, { recursive: true }))
  yield* fs.makeDirectory(aside)
  yield* Effect.forEach(wanted, ({ name, source }) => copyProgram(source, path.join(aside, name)), {
    concurrency: CONCURRENCY,
    discard: true
  }).pipe(Effect.onError(() => discard))
  yield* fs.rename(aside, directory).pipe(
    Effect.catch(() =>
      Effect.gen(function* () {
        // Somebody else finished first, and containers may use it already.
        if (yield* isIntact(directory, wanted)) return yield* discard
        yield* fs.remove(directory, { recursive: true })
        yield* fs.rename(aside, directory)
      })
    )
  )
})

const copyProgram = Effect.fnUntraced(function* (source: string, target: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.copyFile(source, target)
  yield* fs.chmod(target, 0o755)
  yield* fs.utimes(target, COPIED, COPIED)
})

const prune = Effect.fnUntraced(function* (root: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const oldest = (yield* Clock.currentTimeMillis) - Duration.toMillis(KEPT)
  for (const name of yield* fs.readDirectory(root)) {
    const { mtime } = yield* fs.stat(path.join(root, name))
    if (Option.isSome(mtime) && mtime.value.getTime() < oldest)
      yield* fs.remove(path.join(root, name), { recursive: true })
  }
})
