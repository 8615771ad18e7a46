/**
 * Files and folders into an environment, through processes in it: that works on every file system a process there can write
 * to, and the owner is the one a process there would give.
 */
import {
  ByteSize,
  Duration,
  Effect,
  type FileSystem,
  Option,
  type Path,
  type PlatformError,
  Redacted,
  Stream
} from "effect"
import type { EnvironmentError } from "../EnvironmentError.ts"
import type { Shell } from "../Shell.ts"
import { quote } from "./shellText.ts"
import { TAR_END, tarHeader, tarPadding } from "./tarFormat.ts"
import { runTransfer, type TransferHost, transferFailed } from "./transfer.ts"

export interface UploadHost extends TransferHost {
  readonly shell: Shell
  readonly fs: FileSystem.FileSystem
  readonly path: Path.Path
}

export type UploadSource = { readonly path: string } | { readonly content: Uint8Array | Redacted.Redacted<string> }

/**
 * Up to this size content goes through the persistent shell, which costs no process at the border. A larger one is no faster that
 * way: bash reads what it is told byte by byte.
 */
const INLINE_BYTES = 16 * 1024

const INLINE_LIMIT = Duration.seconds(60)

/** A stream of larger chunks takes fewer turns of the event loop. */
const CHUNK_BYTES = 1024 * 1024

/** Of content that comes from no file. */
const DEFAULT_MODE = 0o644

/**
 * `$1` target, `$2` mode, `$3` owner or nothing, `$4` size. The file appears under its name only when it is complete, so a
 * program that runs is replaced, not overwritten, and nobody reads half a file. `new` is made by the lines before.
 */
const placeScript = (receive: string) => `[ -d "$1" ] && { echo "there is a directory of that name" >&2; exit 1; }
dir=\${1%/*}
[ -d "\${dir:-/}" ] || mkdir -p -- "\${dir:-/}" || exit 1
umask 077
new=\${dir}/.upload-$$
${receive} && chmod "$2" "$new" && { [ -z "$3" ] || chown "$3" "$new"; } && mv -f -- "$new" "$1" && exit 0
rm -f -- "$new"
exit 1`

/** A stream that broke off looks like one that ended. */
const STREAM_SCRIPT = placeScript(
  `cat >"$new" && { [ "$(wc -c <"$new")" -eq "$4" ] || { echo "not every byte arrived" >&2; false; }; }`
)

const INLINE_SCRIPT = placeScript(`cat >"$new"`)

/** Writes one file. A large one is streamed; it keeps the mode it has here unless another is given. */
export const uploadFile = Effect.fnUntraced(function* (
  host: UploadHost,
  source: UploadSource,
  target: string,
  options: { readonly mode?: number; readonly owner?: string }
): Effect.fn.Return<void, EnvironmentError> {
  if (!("path" in source)) {
    const { content } = source
    const bytes = Redacted.isRedacted(content) ? new TextEncoder().encode(Redacted.value(content)) : content
    return yield* uploadBytes(host, bytes, target, options)
  }
  const info = yield* orFailed(host, target, host.fs.stat(source.path))
  if (info.type !== "File") return yield* failed(host, target, `${source.path} is no file`)
  const size = ByteSize.toNumberUnsafe(info.size)
  const mode = options.mode ?? info.mode & 0o7777
  if (size <= INLINE_BYTES) {
    const bytes = yield* orFailed(host, target, host.fs.readFile(source.path))
    return yield* uploadBytes(host, bytes, target, { ...options, mode })
  }
  const content = orFailedStream(host, target, host.fs.stream(source.path, { chunkSize: CHUNK_BYTES }))
  return yield* send(host, target, uploadArguments(target, mode, options.owner, size), content)
})

const uploadBytes = Effect.fnUntraced(function* (
  host: UploadHost,
  bytes: Uint8Array,
  target: string,
  options: { readonly mode?: number; readonly owner?: string }
): Effect.fn.Return<void, EnvironmentError> {
  const args = uploadArguments(target, options.mode ?? DEFAULT_MODE, options.owner, bytes.length)
  if (bytes.length > INLINE_BYTES) return yield* send(host, target, args, Stream.make(bytes))
  const output = yield* host.shell.run({
    command: `set -- ${args.map(quote).join(" ")}\n${INLINE_SCRIPT}`,
    cwd: "/",
    stdin: bytes,
    timeLimit: INLINE_LIMIT,
    maxOutputBytes: 4096
  })
  if (output.exitCode !== 0) {
    return yield* failed(host, target, new TextDecoder().decode(output.stderr).trim())
  }
})

/** Copies a folder with everything in it: files, folders, links, modes. What is there already stays or is replaced. */
export const uploadFolder = Effect.fnUntraced(function* (
  host: UploadHost,
  source: string,
  target: string
): Effect.fn.Return<void, EnvironmentError> {
  const info = yield* orFailed(host, target, host.fs.stat(source))
  if (info.type !== "Directory") return yield* failed(host, target, `${source} is no directory`)
  const archive = Stream.concat(folderEntries(host, source, "", target), Stream.make(TAR_END))
  yield* runTransfer(host, {
    direction: "upload",
    path: target,
    argv: ["sh", "-c", 'mkdir -p -- "$1" && exec tar -xpf - -C "$1"', "upload", target],
    input: archive
  })
})

const uploadArguments = (target: string, mode: number, owner: string | undefined, size: number) =>
  [target, mode.toString(8), owner ?? "", String(size)] as const

const send = (
  host: UploadHost,
  target: string,
  args: ReadonlyArray<string>,
  input: Stream.Stream<Uint8Array, EnvironmentError>
) =>
  runTransfer(host, {
    direction: "upload",
    path: target,
    argv: ["sh", "-c", STREAM_SCRIPT, "upload", ...args],
    input
  })

/** The archive of a folder, depth first; `below` is the path inside it, empty or ending in a slash. */
const folderEntries = (
  host: UploadHost,
  folder: string,
  below: string,
  target: string
): Stream.Stream<Uint8Array, EnvironmentError> =>
  orFailed(host, target, host.fs.readDirectory(folder)).pipe(
    Effect.map((names) =>
      Stream.fromIterable(names.toSorted()).pipe(
        Stream.flatMap((name) => entry(host, host.path.join(folder, name), `${below}${name}`, target))
      )
    ),
    Stream.unwrap
  )

const entry = (
  host: UploadHost,
  source: string,
  path: string,
  target: string
): Stream.Stream<Uint8Array, EnvironmentError> =>
  Effect.gen(function* () {
    const info = yield* orFailed(host, target, host.fs.lstat(source))
    const modified = Option.match(info.mtime, { onNone: () => 0, onSome: (date) => Math.floor(date.getTime() / 1000) })
    const common = { path, mode: info.mode & 0o7777, modified, size: 0, link: "" }
    switch (info.type) {
      case "Directory": {
        const header = Stream.make(tarHeader({ ...common, type: "directory" }))
        return Stream.concat(header, folderEntries(host, source, `${path}/`, target))
      }
      case "SymbolicLink": {
        const link = yield* orFailed(host, target, host.fs.readLink(source))
        return Stream.make(tarHeader({ ...common, type: "symlink", link }))
      }
      case "File": {
        const size = ByteSize.toNumberUnsafe(info.size)
        const header = Stream.make(tarHeader({ ...common, type: "file", size }))
        return header.pipe(
          Stream.concat(exactly(host, source, size, target)),
          Stream.concat(Stream.make(tarPadding(size)))
        )
      }
      default:
        // A socket or a device of this machine means nothing in the environment.
        return Stream.empty
    }
  }).pipe(Stream.unwrap)

/** A file that shrinks while it is read would shift everything after it in the archive. */
const exactly = (host: UploadHost, source: string, size: number, target: string) =>
  orFailedStream(
    host,
    target,
    host.fs.stream(source, { bytesToRead: ByteSize.bytes(size), chunkSize: CHUNK_BYTES })
  ).pipe(
    Stream.mapAccum(
      () => size,
      (left, bytes: Uint8Array) => [left - bytes.length, [bytes]] as const,
      { onHalt: (left) => (left === 0 ? [] : [undefined]) }
    ),
    Stream.mapEffect((bytes) =>
      bytes === undefined ? failed(host, target, `${source} changed while it was read`) : Effect.succeed(bytes)
    )
  )

const failed = (host: UploadHost, target: string, detail: string) =>
  transferFailed(host.environment, "upload", target, detail)

const orFailed = <A>(host: UploadHost, target: string, effect: Effect.Effect<A, PlatformError.PlatformError>) =>
  Effect.mapError(effect, (cause) => transferFailed(host.environment, "upload", target, cause.message, cause))

const orFailedStream = <A>(host: UploadHost, target: string, stream: Stream.Stream<A, PlatformError.PlatformError>) =>
  Stream.mapError(stream, (cause) => transferFailed(host.environment, "upload", target, cause.message, cause))
