/**
 * The digests of files of this machine, each computed once as long as the file stays as it is: a stack is asked for when it is
 * cached, when it is installed, and by every further trial of this process.
 */
import { Effect, FileSystem, Option, type PlatformError } from "effect"
import { sha256 } from "./sha256.ts"

/** What a file was when it was read, by path; a stack has a handful of files. */
const known = new Map<string, { readonly identity: string; readonly digest: string }>()

/**
 * sha256, 64 hex digits. A file counts as unchanged while inode, size and time are; one that was changed behind all three is
 * noticed where its bytes arrive, whose digest is computed there.
 */
export const fileDigest = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<string, PlatformError.PlatformError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const identity = identityOf(yield* fs.stat(path))
  const found = known.get(path)
  if (found !== undefined && found.identity === identity) return found.digest
  const digest = yield* sha256(fs.stream(path))
  if (identity !== undefined) known.set(path, { identity, digest })
  return digest
})

/** `undefined` where the file system does not tell all of it. */
const identityOf = ({ dev, ino, mtime, size }: FileSystem.File.Info): string | undefined =>
  Option.isNone(ino) || Option.isNone(mtime) ? undefined : `${dev} ${ino.value} ${size} ${mtime.value.getTime()}`
