/**
 * Where the built programs of the reference stack are. Nothing of that package is imported: in a checkout its build script
 * runs as a process and prints the directory, an installed package ships the programs.
 */
import { Effect, FileSystem, Path, Stream } from "effect"
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

/** The script prints the directory on stdout and what went wrong on stderr; only its exit code says whether it did. */
const build = Effect.fnUntraced(
  function* (node: string, script: string) {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const child = yield* spawner.spawn(ChildProcess.make(node, [script], { stdin: "ignore" }))
    const { code, said, printed } = yield* Effect.all(
      { code: child.exitCode, printed: text(child.stdout), said: text(child.stderr) },
      { concurrency: "unbounded" }
    )
    const directory = printed.trimEnd().split("\n").at(-1) ?? ""
    if (code === 0 && directory.startsWith("/")) return directory
    const end = code === 0 ? "the build script printed no directory" : `the build script ended with code ${code}`
    return yield* new ReferenceStackUnavailable({ detail: [end, words(said)].filter(Boolean).join("\n") })
  },
  Effect.scoped,
  Effect.catchTag("PlatformError", ({ message }) => Effect.fail(new ReferenceStackUnavailable({ detail: message })))
)

const text = <E>(bytes: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(bytes))

/** What a script said, without the frames of a stack trace and what stands below them. */
const words = (said: string): string => {
  const lines = said.split("\n")
  const frames = lines.findIndex((line) => /^\s+at /.test(line))
  return (frames === -1 ? lines : lines.slice(0, frames)).join("\n").trim()
}
