/**
 * The trial directory on this machine. Every document appears whole or not at all: it is written beside its place and then
 * renamed, so that a harness killed at any moment leaves nothing half-written.
 */
import { Effect, FileSystem, Path, type PlatformError } from "effect"

/** An opened trial directory. Names are file names below it. */
export interface TrialDirectory {
  /** Absolute path. */
  readonly path: string
  /** Where a file of this name lies. */
  at(name: string): string
  /** Writes a file whole; `mode` is octal, default `0o644`. */
  write(
    name: string,
    content: string,
    options?: { readonly mode?: number }
  ): Effect.Effect<void, PlatformError.PlatformError>
  /** Writes a value as JSON, indented by two, with a newline at the end. */
  writeJson(name: string, value: unknown): Effect.Effect<void, PlatformError.PlatformError>
  /** Every file in it, relative and sorted. Unfinished ones are left out. */
  readonly files: Effect.Effect<ReadonlyArray<string>, PlatformError.PlatformError>
}

const UNFINISHED = ".unfinished"

/** Opens the directory, making it when it is missing. What is in it stays until it is written again. */
export const open = Effect.fn("TrialDirectory.open")(function* (
  directory: string
): Effect.fn.Return<TrialDirectory, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(directory)
  yield* fs.makeDirectory(root, { recursive: true })
  const at = (name: string) => path.join(root, name)

  const write: TrialDirectory["write"] = Effect.fn("TrialDirectory.write")(function* (name, content, options) {
    const unfinished = `${at(name)}${UNFINISHED}`
    yield* fs.writeFileString(unfinished, content, { mode: options?.mode ?? 0o644 })
    // An existing file keeps its mode when it is opened for writing.
    yield* fs.chmod(unfinished, options?.mode ?? 0o644)
    yield* fs.rename(unfinished, at(name))
  })

  return {
    path: root,
    at,
    write,
    writeJson: (name, value) => write(name, `${JSON.stringify(value, undefined, 2)}\n`),
    files: Effect.gen(function* () {
      const entries = yield* fs.readDirectory(root, { recursive: true })
      const files = yield* Effect.filter(entries, (entry) =>
        Effect.map(fs.stat(at(entry)), (info) => info.type === "File" && !entry.endsWith(UNFINISHED))
      )
      return files.toSorted()
    })
  }
})
