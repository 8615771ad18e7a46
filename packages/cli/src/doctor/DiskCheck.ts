/**
 * Whether there is room where trials write: their bundles, the copies of stacks that containers are given, temporary files.
 */
import { Config, Effect, Path } from "effect"
import { tmpdir } from "node:os"
import { type FreeSpace, freeSpace } from "../internal/freeSpace.ts"
import type { Finding } from "./Finding.ts"

const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** Logs of a team that works for hours, and a stack with a Node in it, take some hundreds of MiB. */
const COMFORTABLE = GIB

/** A short trial takes a few MiB; a stack alone may take so much. */
const NEEDED = 200 * MIB

const variable = (name: string) => Config.String(name).pipe(Config.withDefault(""))

/** One finding for each place. */
export const checkDisk: Effect.Effect<ReadonlyArray<Finding>, never, Path.Path> = Effect.gen(function* () {
  const path = yield* Path.Path
  // Both have a default, so reading them cannot fail.
  const { cache, home } = yield* Effect.orDie(Config.all({ cache: variable("XDG_CACHE_HOME"), home: variable("HOME") }))
  const caches = path.isAbsolute(cache) ? cache : path.join(home || "/tmp", ".cache")
  const places = {
    "bundles of trials": path.resolve("trials"),
    "copies of stacks for containers": path.join(caches, "buzz-orchestra"),
    "temporary files": tmpdir()
  }
  return yield* Effect.forEach(Object.entries(places), ([what, directory]) =>
    Effect.map(freeSpace(directory), (space) => judge(what, directory, space))
  )
})

/** Pure. */
export const judge = (what: string, directory: string, { at, bytes }: FreeSpace): Finding => {
  const place = `for ${what} in ${directory}`
  if (bytes === undefined) {
    const detail = `no room ${place}: ${at} cannot be written`
    return { topic: "disk", status: "missing", detail, next: `make it writable, or run the command elsewhere` }
  }
  const detail = `${bytes < GIB ? `${Math.floor(bytes / MIB)} MiB` : `${(bytes / GIB).toFixed(1)} GiB`} ${place}`
  if (bytes >= COMFORTABLE) return { topic: "disk", status: "ok", detail }
  return { topic: "disk", status: bytes < NEEDED ? "missing" : "warn", detail, next: "make room there" }
}
