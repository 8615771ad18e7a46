/**
 * Needs `node:fs`, which asks a file system how much room it has.
 */
import { Effect } from "effect"
import { access, constants, statfs } from "node:fs/promises"
import { dirname } from "node:path"

/** Where room was found, in bytes; `undefined` when nothing can be written there. */
export interface FreeSpace {
  /** The directory, or the nearest one above it that exists. */
  readonly at: string
  readonly bytes: number | undefined
}

/** Of the file system that `directory`, which need not exist yet, is or would be on. */
export const freeSpace = (directory: string): Effect.Effect<FreeSpace> => Effect.promise(() => look(directory))

const look = async (at: string): Promise<FreeSpace> => {
  try {
    const { bavail, bsize } = await statfs(at)
    return { at, bytes: (await isWritable(at)) ? bavail * bsize : undefined }
  } catch {
    return at === dirname(at) ? { at, bytes: undefined } : look(dirname(at))
  }
}

const isWritable = (at: string): Promise<boolean> =>
  access(at, constants.W_OK).then(
    () => true,
    () => false
  )
