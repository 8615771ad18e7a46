/**
 * A directory with a Dockerfile as an image build gets it: which files, in which order, under which digest. Owners and times
 * are left out, so that the same content is the same context wherever it lies.
 */
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { ByteSize, Effect, FileSystem, Path, type PlatformError, Stream } from "effect"
import { sha256 } from "../internal/sha256.ts"
import { TAR_END, tarHeader, tarPadding } from "../internal/tarFormat.ts"
import { type DockerIgnore, parseDockerIgnore } from "./DockerIgnore.ts"

/** The file that says how the image is made. */
export const DOCKERFILE = "Dockerfile"

const IGNORE_FILE = ".dockerignore"

/** A context that was read once; its archive reads the files again. */
export interface BuildContext {
  /** sha256 over paths, kinds, permissions and contents, 64 hex digits. */
  readonly digest: string
  /** What the Dockerfile builds upon, as far as it says so without variables. */
  readonly bases: ReadonlyArray<string>
  /** Tar; the same bytes for the same digest. Fails when a file changes while it is read. */
  readonly archive: Stream.Stream<Uint8Array, PlatformError.PlatformError>
}

interface Entry {
  readonly path: string
  readonly type: "file" | "directory" | "symlink"
  readonly mode: number
  readonly size: number
  readonly link: string
}

/** Fails when the directory, its Dockerfile or anything in it cannot be read. */
export const readBuildContext = Effect.fn("BuildContext.read")(function* (
  directory: string
): Effect.fn.Return<BuildContext, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const dockerfile = yield* fs.readFileString(path.join(directory, DOCKERFILE))
  const ignored = yield* Effect.orElseSucceed(fs.readFileString(path.join(directory, IGNORE_FILE)), () => "")
  const entries = yield* walk(directory, "", parseDockerIgnore(ignored))
  const lines = yield* Effect.forEach(entries, (entry) => describeEntry(directory, entry), { concurrency: 4 })
  const archive = Stream.fromIterable(entries).pipe(
    Stream.flatMap((entry) =>
      Stream.make(tarHeader({ ...entry, modified: 0 })).pipe(
        Stream.concat(
          entry.type === "file"
            ? Stream.concat(
                fs.stream(path.join(directory, entry.path), { bytesToRead: ByteSize.bytes(entry.size) }),
                Stream.make(tarPadding(entry.size))
              )
            : Stream.empty
        )
      )
    ),
    Stream.concat(Stream.make(TAR_END))
  )
  return { digest: Sha256.sha256(lines.join("")), bases: basesOf(dockerfile), archive }
})

/** Depth first, sorted. The files that the build itself reads are always in. */
const walk = (
  directory: string,
  below: string,
  ignore: DockerIgnore
): Effect.Effect<ReadonlyArray<Entry>, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const names = (yield* fs.readDirectory(path.join(directory, below))).toSorted()
    const found = yield* Effect.forEach(names, (name) =>
      Effect.gen(function* () {
        const entry = yield* entryAt(directory, `${below}${name}`)
        if (entry === undefined) return []
        const excluded = ignore.excludes(entry.path) && entry.path !== DOCKERFILE && entry.path !== IGNORE_FILE
        if (entry.type !== "directory") return excluded ? [] : [entry]
        const inside = excluded && !ignore.hasExceptions ? [] : yield* walk(directory, `${entry.path}/`, ignore)
        return excluded && inside.length === 0 ? [] : [entry, ...inside]
      })
    )
    return found.flat()
  })

/** Follows no link. A socket or a device cannot be part of an image. */
const entryAt = Effect.fnUntraced(function* (directory: string, path: string) {
  const fs = yield* FileSystem.FileSystem
  const at = (yield* Path.Path).join(directory, path)
  const info = yield* fs.lstat(at)
  const common = { path, mode: info.mode & 0o777, size: 0, link: "" }
  switch (info.type) {
    case "Directory":
      return { ...common, type: "directory" } satisfies Entry
    case "SymbolicLink":
      return { ...common, type: "symlink", link: yield* fs.readLink(at) } satisfies Entry
    case "File":
      return { ...common, type: "file", size: ByteSize.toNumberUnsafe(info.size) } satisfies Entry
    default:
      return undefined
  }
})

const describeEntry = Effect.fnUntraced(function* (directory: string, { link, mode, path, type }: Entry) {
  const fs = yield* FileSystem.FileSystem
  const at = (yield* Path.Path).join(directory, path)
  const content = type === "file" ? yield* sha256(fs.stream(at)) : link
  return `${JSON.stringify([type, path, mode.toString(8), content])}\n`
})

/** `FROM image`, but not `FROM scratch`, an earlier stage, or what a variable names. */
const basesOf = (dockerfile: string): ReadonlyArray<string> => {
  const stages = new Set<string>(["scratch"])
  const bases: Array<string> = []
  for (const [, base = "", stage] of dockerfile.matchAll(/^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/gim)) {
    if (!base.includes("$") && !stages.has(base)) bases.push(base)
    if (stage !== undefined) stages.add(stage)
  }
  return bases
}
