/**
 * Files and folders out of an environment, as `unpacker` writes them.
 */
import { Effect, type FileSystem, type Path, Stream } from "effect"
import type { EnvironmentError } from "../EnvironmentError.ts"
import type { DownloadLimits } from "../EnvironmentService.ts"
import { concatBytes } from "./concatBytes.ts"
import { feedTar, initialTar } from "./tarReader.ts"
import { runTransfer, type TransferHost, transferFailed } from "./transfer.ts"
import { makeUnpacker, type OrFailed, plain } from "./unpacker.ts"

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
  target: string,
  limits: DownloadLimits = NO_LIMITS
): Effect.fn.Return<ReadonlyArray<string>, EnvironmentError> {
  const orFailed = refusal(host, source)
  yield* orFailed(host.fs.makeDirectory(target, { recursive: true }))
  const listing = listingWithin(limits === NO_LIMITS ? Number.POSITIVE_INFINITY : LISTING_BYTES)
  yield* runTransfer(host, {
    direction: "download",
    path: source,
    argv: ["sh", "-c", LIST_SCRIPT, "download", source],
    output: (bytes) => Stream.runForEach(bytes, (part) => Effect.sync(() => listing.push(part))),
    // find's own complaints about folders do not make the rest unreadable.
    accept: [0, 1]
  })
  const stop = transferFailed(host.environment, "download", source, "more lies there than may be copied")
  const unpacker = makeUnpacker({ ...host, target, orFailed, limits, stop })
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
  }).pipe(Effect.catchIf(unpacker.isFull, () => Effect.void))
  yield* unpacker.links
  if (!unpacker.isComplete() && !unpacker.isFull())
    return yield* transferFailed(host.environment, "download", source, "the archive ended early")
  return listing.names().filter((name) => !unpacker.copied.has(name))
})

const NO_LIMITS: DownloadLimits = { maxBytes: Number.POSITIVE_INFINITY, maxFiles: Number.POSITIVE_INFINITY }

/** Bytes of names that are remembered where somebody may have made names without end. */
const LISTING_BYTES = 1024 * 1024

/** The names that were listed, as many of them as fit. */
const listingWithin = (limit: number) => {
  const parts: Array<Uint8Array> = []
  let length = 0
  return {
    push: (part: Uint8Array) => {
      if (length < limit) parts.push(part)
      length += part.length
    },
    names: (): ReadonlyArray<string> => new TextDecoder().decode(concatBytes(parts)).split("\0").slice(0, -1).map(plain)
  }
}

const refusal =
  (host: DownloadHost, source: string): OrFailed =>
  (effect) =>
    Effect.mapError(effect, (cause) => transferFailed(host.environment, "download", source, cause.message, cause))
