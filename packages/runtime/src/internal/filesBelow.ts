/**
 * What lies below a folder, without following any link: a listing that follows them leads out of the folder, or never ends.
 */
import { Effect, FileSystem, Option, Path, type PlatformError } from "effect"

/** Something that is no folder. */
export interface Below {
  /** Relative to the folder. */
  readonly name: string
  readonly kind: "file" | "link" | "other"
}

type Listing = Effect.Effect<ReadonlyArray<Below>, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path>

/** Everything below the folder that is no folder itself, sorted by name. */
export const filesBelow = (folder: string): Listing =>
  Effect.map(listed(folder, ""), (all) => all.toSorted((a, b) => (a.name < b.name ? -1 : 1)))

const listed: (folder: string, below: string) => Listing = Effect.fnUntraced(function* (folder, below) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const found: Array<Below> = []
  for (const entry of yield* fs.readDirectory(path.join(folder, below))) {
    const name = below === "" ? entry : `${below}/${entry}`
    const at = path.join(folder, name)
    if (Option.isSome(yield* Effect.option(fs.readLink(at)))) {
      found.push({ name, kind: "link" })
      continue
    }
    const { type } = yield* fs.stat(at)
    if (type === "Directory") found.push(...(yield* listed(folder, name)))
    else found.push({ name, kind: type === "File" ? "file" : "other" })
  }
  return found
})
