/**
 * Files and folders out of an environment. Nothing that comes from there decides where anything is written here, except
 * below the target: names that lead out of it are refused, and links are made last, so that no file is written through one.
 */
import { Effect, Exit, type FileSystem, type Path, type PlatformError, Scope, Stream } from "effect"
import type { EnvironmentError } from "../EnvironmentError.ts"
import { concat } from "./markedFrames.ts"
import type { TarEntry } from "./tarFormat.ts"
import { feedTar, initialTar, type TarToken } from "./tarReader.ts"
import { runTransfer, type TransferHost, transferFailed } from "./transfer.ts"

export interface DownloadHost extends TransferHost {
  readonly fs: FileSystem.FileSystem
  readonly path: Path.Path
}

/** Copies one file to `target`, making its directory. */
export const downloadFile = Effect.fnUntraced(function* (
  host: DownloadHost,
  source: string,
  target: string
): Effect.fn.Return<void, EnvironmentError> {
  const orFailed = refusal(host, source)
  yield* orFailed(host.fs.makeDirectory(host.path.dirname(target), { recursive: true }))
  yield* runTransfer(host, {
    direction: "download",
    path: source,
    argv: [
      "sh",
      "-c",
      '[ -f "$1" ] || { echo "there is no such file" >&2; exit 1; }; exec cat -- "$1"',
      "download",
      source
    ],
    output: (bytes) =>
      Stream.run(
        Stream.mapError(bytes, (error): EnvironmentError => error),
        host.fs.sink(target)
      ).pipe(
        Effect.mapError((error) =>
          error._tag === "EnvironmentError"
            ? error
            : transferFailed(host.environment, "download", source, error.message, error)
        )
      )
  }).pipe(Effect.onError(() => Effect.ignore(host.fs.remove(target, { force: true }))))
})

/** Names of everything that is no folder, each ended by a NUL, then the archive of what can be read. */
const LIST_SCRIPT = `cd -- "$1" || exit 9; find . ! -type d -exec printf '%s\\0' {} +`

/** GNU tar says 1 for a file that changed while it was read and 2 for one that it could not read; both write the rest. */
const TAR_ACCEPTED = [0, 1, 2]

/** Copies a folder; the result names what is in it and could not be copied. */
export const downloadFolder = Effect.fnUntraced(function* (
  host: DownloadHost,
  source: string,
  target: string
): Effect.fn.Return<ReadonlyArray<string>, EnvironmentError> {
  const orFailed = refusal(host, source)
  yield* orFailed(host.fs.makeDirectory(target, { recursive: true }))
  let listed: Uint8Array = new Uint8Array(0)
  yield* runTransfer(host, {
    direction: "download",
    path: source,
    argv: ["sh", "-c", LIST_SCRIPT, "download", source],
    output: (bytes) => Stream.runForEach(bytes, (part) => Effect.sync(() => void (listed = concat(listed, part)))),
    // find's own complaints about folders do not make the rest unreadable.
    accept: [0, 1]
  })
  const expected = new TextDecoder()
    .decode(listed)
    .split("\0")
    .filter((name) => name !== "")
    .map(plain)
  const unpacker = makeUnpacker(host, target, orFailed)
  yield* runTransfer(host, {
    direction: "download",
    path: source,
    argv: ["tar", "-C", source, "-cf", "-", "."],
    accept: TAR_ACCEPTED,
    output: (bytes) =>
      bytes.pipe(
        Stream.mapAccum(() => initialTar, feedTar),
        Stream.runForEach(unpacker.take),
        Effect.onExit(() => unpacker.close)
      )
  })
  yield* unpacker.links
  if (!unpacker.isComplete())
    return yield* transferFailed(host.environment, "download", source, "the archive ended early")
  return expected.filter((name) => !unpacker.copied.has(name))
})

const plain = (name: string): string => name.replace(/^\.\//, "")

type OrFailed = <A>(effect: Effect.Effect<A, PlatformError.PlatformError>) => Effect.Effect<A, EnvironmentError>

const refusal =
  (host: DownloadHost, source: string): OrFailed =>
  (effect) =>
    Effect.mapError(effect, (cause) => transferFailed(host.environment, "download", source, cause.message, cause))

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

const makeUnpacker = (host: DownloadHost, target: string, orFailed: OrFailed) => {
  const { fs, path } = host
  const copied = new Set<string>()
  const links: Array<{ readonly name: string; readonly to: string }> = []
  let file: { readonly name: string; readonly handle: FileSystem.File; readonly scope: Scope.Closeable } | undefined
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
    switch (entry.type) {
      case "directory":
        return yield* orFailed(fs.makeDirectory(at, { recursive: true }))
      case "file": {
        yield* orFailed(fs.makeDirectory(path.dirname(at), { recursive: true }))
        const scope = yield* Scope.make()
        const mode = (entry.mode & 0o777) | 0o600
        const handle = yield* orFailed(Scope.provide(fs.open(at, { flag: "w", mode }), scope))
        file = { name, handle, scope }
        return
      }
      case "hardlink": {
        const original = plain(entry.link)
        if (!copied.has(original)) return
        yield* orFailed(fs.copyFile(path.join(target, original), at))
        copied.add(name)
        return
      }
      case "symlink":
        if (staysBelow(path.join(path.dirname(name), entry.link)) && !entry.link.startsWith("/"))
          links.push({ name, to: entry.link })
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
        if (file !== undefined) copied.add(file.name)
        return yield* close
      case "End":
        complete = true
    }
  })

  const makeLinks = Effect.suspend(() =>
    Effect.forEach(
      links,
      ({ name, to }) =>
        fs
          .remove(path.join(target, name), { force: true })
          .pipe(
            Effect.andThen(fs.symlink(to, path.join(target, name))),
            Effect.andThen(Effect.sync(() => copied.add(name))),
            orFailed
          ),
      { discard: true }
    )
  )

  return { take, close, links: makeLinks, copied, isComplete: () => complete }
}
