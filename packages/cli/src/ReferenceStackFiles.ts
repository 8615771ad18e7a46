/**
 * Where the built programs of the reference stack are. Nothing of that package is imported: in a checkout its build script
 * runs as a process and prints the directory, an installed package ships the programs.
 */
import { Effect, FileSystem, Path } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { CommandError, ReferenceStackUnavailable } from "./CommandError.ts"

/** Where a package that is not installed would be asked for. */
const PACKAGE = "@buzz-orchestra/reference-stack/package.json"

/**
 * The directory that holds the programs; built on first use in a checkout. `node` is the Node that builds them, `command`
 * the command that asks.
 */
export const locate = Effect.fn("ReferenceStackFiles.locate")(
  function* (
    node: string,
    _command: string
  ): Effect.fn.Return<
    string,
    ReferenceStackUnavailable,
    FileSystem.FileSystem | Path.Path | ChildProcessSpawner.ChildProcessSpawner
  > {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const manifest = yield* Effect.try({
      try: () => new URL(import.meta.resolve(PACKAGE)),
      catch: () =>
        new ReferenceStackUnavailable({ detail: "the package @buzz-orchestra/reference-stack is not installed" })
    }).pipe(Effect.flatMap((url) => Effect.orDie(path.fromFileUrl(url))))
    const root = path.dirname(manifest)
    const script = path.join(root, "scripts", "build.mjs")
    const shipped = path.join(root, "dist", "programs")
    const hasScript = yield* fs.exists(script).pipe(Effect.orElseSucceed(() => false))
    return hasScript ? yield* build(node, script) : shipped
  },
  (effect, _node, command) => Effect.mapError(effect, (reason) => new CommandError({ command, reason }))
)

/** The script prints the directory on stdout and what went wrong on stderr. */
const build = Effect.fnUntraced(function* (node: string, script: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const printed = yield* spawner
    .string(ChildProcess.make(node, [script], { stdin: "ignore" }), { includeStderr: true })
    .pipe(Effect.mapError((cause) => new ReferenceStackUnavailable({ detail: cause.message })))
  const directory = printed.trimEnd().split("\n").at(-1) ?? ""
  return directory.startsWith("/") ? directory : yield* new ReferenceStackUnavailable({ detail: words(printed) })
})

/** What a script printed, without the frames of a stack trace and what stands below them. */
const words = (printed: string): string => {
  const lines = printed.split("\n")
  const frames = lines.findIndex((line) => /^\s+at /.test(line))
  return (frames === -1 ? lines : lines.slice(0, frames)).join("\n").trim()
}
