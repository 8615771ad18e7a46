/**
 * The programs of a stack as they lie on this machine, before they are installed into an environment.
 */
import { Effect, FileSystem, Option, Path } from "effect"

/** Where each program of a stack is on this machine. */
export interface StackFiles {
  /** Program name to path on this machine. `REQUIRED_PROGRAMS` are always needed; others are installed beside them. */
  readonly programs: Readonly<Record<string, string>>
  /** Path of the `relay-forwarder` program; needed only where a relay gateway is configured. */
  readonly forwarder?: string
  /** Path of a PEM bundle for the agents' TLS; default: the root certificates that Node ships. */
  readonly caBundle?: string
  /** Names of programs above that `fromDirectory` found without the right to be executed; installing refuses them. */
  readonly notExecutable?: ReadonlyArray<string>
}

/** The name under which the forwarder is installed. */
export const FORWARDER = "relay-forwarder"

/** What no trial can run without. */
export const REQUIRED_PROGRAMS = ["buzz-acp", "buzz-agent", "buzz-dev-mcp"] as const

/** The PEM bundle that a stack directory may bring. */
const CA_BUNDLE = "ca-certificates.crt"

/** Whoever may execute it. */
const EXECUTABLE = 0o111

/**
 * The executable files in `directory` as a stack: `relay-forwarder` and `ca-certificates.crt` take their places, each other one
 * is a program. What is no program by its mode, such as a README, is left out; but a required program or the forwarder is
 * listed and noted. Required programs are listed whether they exist or not, so that installing names all that are missing; for
 * the same reason a directory that cannot be read is one without programs.
 */
export const fromDirectory = Effect.fn("StackFiles.fromDirectory")(function* (
  directory: string
): Effect.fn.Return<StackFiles, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const entries = yield* fs.readDirectory(directory).pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))
  const modes = new Map<string, number>()
  for (const entry of entries) {
    const info = yield* Effect.option(fs.stat(path.join(directory, entry)))
    if (Option.isSome(info) && info.value.type === "File") modes.set(entry, info.value.mode)
  }
  const at = (name: string) => path.join(directory, name)
  const isExecutable = (name: string) => ((modes.get(name) ?? 0) & EXECUTABLE) !== 0
  const others = [...modes.keys()].filter((name) => isExecutable(name) && name !== FORWARDER && name !== CA_BUNDLE)
  const notExecutable = [...REQUIRED_PROGRAMS, FORWARDER].filter((name) => modes.has(name) && !isExecutable(name))
  return {
    programs: Object.fromEntries([...REQUIRED_PROGRAMS, ...others].map((name) => [name, at(name)])),
    ...(modes.has(FORWARDER) ? { forwarder: at(FORWARDER) } : {}),
    ...(modes.has(CA_BUNDLE) ? { caBundle: at(CA_BUNDLE) } : {}),
    ...(notExecutable.length > 0 ? { notExecutable } : {})
  }
})
