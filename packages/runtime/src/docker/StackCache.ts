/**
 * The programs of a stack in one directory of this machine, by content, and its certificates: what a container can be given
 * read-only instead of being sent every byte. The next trial with the same stack finds them there.
 */
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { ByteSize, Clock, Config, Duration, Effect, FileSystem, Option, Path, type PlatformError } from "effect"
import { readCaBundle } from "../internal/caBundle.ts"
import { fileDigest } from "../internal/fileDigest.ts"
import { randomMarker } from "../internal/randomMarker.ts"
import { FORWARDER, type StackFiles } from "../StackFiles.ts"

/** A stack as a container can be given it. */
export interface CachedStack {
  /** Holds exactly the programs, each with mode 0755. */
  readonly directory: string
  /** The PEM bundle, a file. */
  readonly caBundle: string
  /** sha256 over names and contents, 64 hex digits. */
  readonly digest: string
}

/** What no trial used for so long is removed. */
const KEPT = Duration.days(30)

/** Time of every copy. */
const COPIED = new Date(1000)

const CONCURRENCY = 4

const variable = (name: string) => Config.String(name).pipe(Config.withDefault(""))

/** `$XDG_CACHE_HOME/buzz-orchestra`, by default in `~/.cache`. */
const cacheRoot = Effect.gen(function* () {
  const path = yield* Path.Path
  // Every variable has a default, so reading them cannot fail.
  const chosen = yield* Effect.orDie(Config.all({ cache: variable("XDG_CACHE_HOME"), home: variable("HOME") }))
  const cache = path.isAbsolute(chosen.cache) ? chosen.cache : path.join(chosen.home || "/tmp", ".cache")
  return path.join(cache, "buzz-orchestra")
})

/**
 * Finds or makes the stack's directory and bundle. What is there and was changed is made anew. Fails when a program, the bundle
 * or the cache cannot be read or written.
 */
export const cacheStack = Effect.fn("StackCache.cacheStack")(function* (
  files: StackFiles
): Effect.fn.Return<CachedStack, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> {
  const path = yield* Path.Path
  const root = path.join(yield* cacheRoot, "stacks")
  const programs = Object.entries(files.programs).concat(
    files.forwarder === undefined ? [] : [[FORWARDER, files.forwarder]]
  )
  const digests = yield* Effect.forEach(programs, ([, source]) => fileDigest(source), { concurrency: CONCURRENCY })
  const wanted = programs.map(([name, source], at) => ({ name, source, digest: digests[at] as string }))
  const digest = Sha256.sha256(
    wanted
      .map((program) => `${program.name} ${program.digest}\n`)
      .toSorted()
      .join("")
  )
  const directory = path.join(root, digest)
  if (!(yield* isIntact(directory, wanted))) yield* fill(root, directory, wanted)
  yield* noteUse(directory)
  return { directory, caBundle: yield* cacheCaBundle(files.caBundle), digest }
})

/** `certificates/<sha256>.pem`, complete whenever it is there. */
const cacheCaBundle = Effect.fnUntraced(function* (source: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.join(yield* cacheRoot, "certificates")
  const content = yield* readCaBundle(source)
  const file = path.join(root, `${Sha256.sha256(content)}.pem`)
  if (!(yield* isUnchanged(file, content.length))) {
    yield* fs.makeDirectory(root, { recursive: true })
    yield* Effect.ignore(prune(root))
    const aside = `${file}.${(yield* randomMarker).text.slice(1)}`
    yield* fs.writeFile(aside, content).pipe(
      Effect.andThen(fs.chmod(aside, 0o644)),
      Effect.andThen(fs.rename(aside, file)),
      Effect.onError(() => Effect.ignore(fs.remove(aside)))
    )
  }
  yield* noteUse(file)
  return file
})

/** Our own writing is whole, and whoever changes a bundle by hand has the bytes compared inside the environment. */
const isUnchanged = Effect.fnUntraced(function* (file: string, length: number) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.stat(file).pipe(
    Effect.map(({ size }) => ByteSize.Equivalence(size, ByteSize.bytes(length))),
    Effect.orElseSucceed(() => false)
  )
})

/** What is used is not pruned. */
const noteUse = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const now = new Date(yield* Clock.currentTimeMillis)
  yield* fs.utimes(path, now, now)
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
  // Agents may have users of their own, whatever mode this process gives to what it makes.
  yield* fs.chmod(aside, 0o755)
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
