/**
 * Where programs of this machine are.
 */
import { Effect, FileSystem, Option } from "effect"

/** Absolute path by name. */
export type Programs = Readonly<Record<string, string>>

/** Where util-linux and bubblewrap install; a caller's PATH says nothing about them. */
const FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin"]

/** Finds each program, or says which are missing. */
export const findPrograms = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const programs: Record<string, string> = {}
  const missing: Array<string> = []
  for (const name of names) {
    const paths = FOLDERS.map((folder) => `${folder}/${name}`)
    const path = yield* Effect.findFirst(paths, (candidate) => Effect.orElseSucceed(fs.exists(candidate), () => false))
    if (Option.isSome(path)) programs[name] = path.value
    else missing.push(name)
  }
  return { programs: programs as Programs, missing: missing as ReadonlyArray<string> }
})
