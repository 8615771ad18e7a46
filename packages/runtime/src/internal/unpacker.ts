/**
 * Writes the entries of an archive that came out of an environment. Nothing in it decides where anything is written here, except
 * below the target: names that lead out of it are refused, and links are made last, so that no file is written through one.
 */
import { Effect, Exit, type FileSystem, type Path, type PlatformError, Scope } from "effect"
import type { EnvironmentError } from "../EnvironmentError.ts"
import type { DownloadLimits } from "../EnvironmentService.ts"
import { TAR_BLOCK, type TarEntry } from "./tarFormat.ts"
import type { TarToken } from "./tarReader.ts"

/** A call to this machine's disk, its failure as that of the transfer. */
export type OrFailed = <A>(effect: Effect.Effect<A, PlatformError.PlatformError>) => Effect.Effect<A, EnvironmentError>

/** A name as it is listed, without what archives of a folder put before it. */
export const plain = (name: string): string => name.replace(/^\.\//, "")

interface OpenFile {
  readonly name: string
  readonly size: number
  readonly handle: FileSystem.File
  readonly scope: Scope.Closeable
}

/** Bytes that are read past without being kept, in the hope of smaller files after them. */
const PASSED_BYTES = 1024 * 1024 * 1024

/** Counts what is kept and what is passed. */
const makeRoom = ({ maxBytes, maxFiles }: DownloadLimits) => {
  let [bytes, files, passed] = [0, 0, 0]
  return {
    /** Whether there is room for a file of this size. */
    take: (size: number): boolean => {
      if (files < maxFiles && bytes + size <= maxBytes) {
        files++
        bytes += size
        return true
      }
      passed += TAR_BLOCK + size
      return false
    },
    isSpent: () => passed > PASSED_BYTES
  }
}

/** Whether a path stays below where it starts. */
const staysBelow = (path: string): boolean => {
  let depth = 0
  for (const part of path.split("/")) {
    if (part === "..") depth--
    else if (part !== "" && part !== ".") depth++
    if (depth < 0) return false
  }
  return !path.startsWith("/")
}

/**
 * Whether a link leads to something below where the archive goes. Up it may go only first, from the folder it is in: after a name,
 * which may be that of another link, nobody knows by the words where up is.
 */
const linksBelow = (name: string, link: string): boolean => {
  const parts = link.split("/").filter((part) => part !== "" && part !== ".")
  const down = parts.findIndex((part) => part !== "..")
  const climbsLate = down !== -1 && parts.slice(down).includes("..")
  return !link.startsWith("/") && !climbsLate && staysBelow(`${name}/../${link}`)
}

/** Where an archive goes. */
export interface UnpackerOptions {
  readonly fs: FileSystem.FileSystem
  readonly path: Path.Path
  readonly target: string
  readonly orFailed: OrFailed
  readonly limits: DownloadLimits
  /** The failure that ends the reading where too much would have to be passed. */
  readonly stop: EnvironmentError
}

/** Takes the tokens of one archive, in order. */
export const makeUnpacker = ({ fs, limits, orFailed, path, stop, target }: UnpackerOptions) => {
  /** Bytes of each file by its name; nothing of a link. */
  const copied = new Map<string, number>()
  const room = makeRoom(limits)
  const links: Array<{ readonly name: string; readonly to: string }> = []
  let file: OpenFile | undefined
  let complete = false

  const close = Effect.suspend(() => {
    const open = file
    file = undefined
    return open === undefined ? Effect.void : Scope.close(open.scope, Exit.void)
  })

  const begin = Effect.fnUntraced(function* (entry: TarEntry) {
    const name = plain(entry.path)
    if (!staysBelow(name)) return
    const at = path.join(target, name)
    const size = entry.type === "hardlink" ? (copied.get(plain(entry.link)) ?? 0) : entry.size
    if (!room.take(size)) {
      if (room.isSpent()) return yield* stop
      return
    }
    switch (entry.type) {
      case "directory":
        return yield* orFailed(fs.makeDirectory(at, { recursive: true }))
      case "file": {
        yield* orFailed(fs.makeDirectory(path.dirname(at), { recursive: true }))
        const scope = yield* Scope.make()
        const mode = (entry.mode & 0o777) | 0o600
        const handle = yield* orFailed(Scope.provide(fs.open(at, { flag: "w", mode }), scope))
        file = { name, size, handle, scope }
        return
      }
      case "hardlink": {
        const original = plain(entry.link)
        if (!copied.has(original)) return
        yield* orFailed(fs.copyFile(path.join(target, original), at))
        copied.set(name, size)
        return
      }
      case "symlink":
        if (linksBelow(name, entry.link)) links.push({ name, to: entry.link })
        return
      default:
        return
    }
  })

  const take = Effect.fnUntraced(function* (token: TarToken) {
    switch (token._tag) {
      case "Entry":
        return yield* begin(token.entry)
      case "Content":
        return file === undefined ? undefined : yield* orFailed(file.handle.writeAll(token.bytes))
      case "EntryEnd":
        if (file !== undefined) copied.set(file.name, file.size)
        return yield* close
      case "End":
        complete = true
    }
  })

  const makeLinks = Effect.gen(function* () {
    for (const { name, to } of links) {
      const at = path.join(target, name)
      yield* orFailed(Effect.andThen(fs.remove(at, { force: true }), fs.symlink(to, at)))
      copied.set(name, 0)
    }
  })

  return { take, close, links: makeLinks, copied, isComplete: () => complete, isFull: room.isSpent }
}
