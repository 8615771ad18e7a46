/**
 * Digests of files as they lie in an environment: computed there by `sha256sum` or `openssl`, or here from what is read back,
 * because not every image has either.
 */
import { Effect, FileSystem, Path } from "effect"
import { EnvironmentError, TransferFailed } from "../EnvironmentError.ts"
import { EnvironmentService } from "../EnvironmentService.ts"
import type { Layout } from "../Layout.ts"
import * as OwnedDirectory from "../OwnedDirectory.ts"
import { UploadNotThere } from "../RuntimeLaunchError.ts"
import { sha256 } from "./sha256.ts"
import { quote } from "./shellText.ts"

/** sha256, 64 hex digits, by file. */
export type Digests = Readonly<Record<string, string>>

/** Of files of the layout's `bin`, by name, or elsewhere, by path. One that is not there has none, or is `UploadNotThere`. */
export const digestsInside = Effect.fnUntraced(function* (layout: Layout, files: ReadonlyArray<string>) {
  const none: Digests = {}
  if (files.length === 0) return none
  const { exec } = yield* EnvironmentService
  const names = files.map(quote).join(" ")
  const result = yield* exec(
    `cd ${quote(layout.bin)} || exit 1
if command -v sha256sum >/dev/null 2>&1; then sha256sum ${names}
elif command -v openssl >/dev/null 2>&1; then openssl dgst -sha256 -r ${names}
else exit 127; fi`
  )
  return result.exitCode === 127 ? yield* digestsReadBack(layout, files) : parseDigests(result.stdout)
})

const digestsReadBack = Effect.fnUntraced(
  function* (layout: Layout, files: ReadonlyArray<string>) {
    const { download, facts } = yield* EnvironmentService
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const directory = yield* Effect.mapError(
      OwnedDirectory.make,
      ({ message }) =>
        new EnvironmentError({
          operation: "StackInstaller.install",
          reason: new TransferFailed({
            environment: facts.name,
            direction: "download",
            path: layout.bin,
            detail: message
          })
        })
    )
    const entries = yield* Effect.forEach(files, (file) => {
      const inside = file.startsWith("/") ? file : `${layout.bin}/${file}`
      const copy = path.join(directory, "program")
      return download(inside, copy).pipe(
        Effect.andThen(sha256(fs.stream(copy))),
        Effect.catchTag("PlatformError", () => new UploadNotThere({ environment: facts.name, path: inside })),
        Effect.map((digest) => [file, digest] as const)
      )
    })
    return Object.fromEntries(entries) as Digests
  },
  (effect) => Effect.scoped(effect)
)

/** Lines of `sha256sum` and of `openssl dgst -r`: digest, space, space or `*`, name. */
const parseDigests = (stdout: string): Digests =>
  Object.fromEntries(
    stdout.split("\n").flatMap((line) => {
      const [, digest, name] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? []
      return digest === undefined || name === undefined ? [] : [[name, digest]]
    })
  )
