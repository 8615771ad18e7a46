/**
 * The directory that comes first on the PATH of every command, with the `buzz` command in it. As in the real program that
 * command is this program under another name, so no other file is needed, and it shadows any other `buzz`.
 */
import { Effect, FileSystem, type PlatformError, type Scope } from "effect"
import { shellQuote } from "../internal/shellQuote.ts"

/** The option by which the program is asked to be `buzz`. */
const AS_BUZZ = "--as-buzz"

/** Which program this process is, and the arguments that are left for it. Pure. */
export const multicall = (args: ReadonlyArray<string>): { readonly buzz: ReadonlyArray<string> } | undefined =>
  args[0] === AS_BUZZ ? { buzz: args.slice(1) } : undefined

/** The script that starts `program` (a path) with `node` (a path) as `buzz`. Pure. */
const buzzScript = (node: string, program: string): string =>
  `#!/bin/sh\nexec ${shellQuote(node)} ${shellQuote(program)} ${AS_BUZZ} "$@"\n`

/** Creates the directory; it is removed when the scope closes. */
export const make = (options: {
  readonly node: string
  readonly program: string
}): Effect.Effect<string, PlatformError.PlatformError, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const directory = yield* fileSystem.makeTempDirectoryScoped({ prefix: "buzz-dev-mcp-" })
    yield* fileSystem.writeFileString(`${directory}/buzz`, buzzScript(options.node, options.program), { mode: 0o755 })
    return directory
  })

/** The environment of every command. Pure. The signing key for git is not for the model's eyes. */
export const environment = (
  env: Readonly<Record<string, string | undefined>>,
  directory: string
): Record<string, string> => {
  const visible = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[0] !== "NOSTR_PRIVATE_KEY"
  )
  const path = env["PATH"]
  return { ...Object.fromEntries(visible), PATH: path === undefined ? directory : `${directory}:${path}` }
}
