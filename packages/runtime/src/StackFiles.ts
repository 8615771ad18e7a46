/**
 * The programs of a stack as they lie on this machine, before they are installed into an environment.
 */
import { Effect, FileSystem, Path } from "effect"

/** Where each program of a stack is on this machine. */
export interface StackFiles {
  /** Program name to path on this machine. `REQUIRED_PROGRAMS` are always needed; others are installed beside them. */
  readonly programs: Readonly<Record<string, string>>
  /** Path of the `relay-forwarder` program; needed only where a relay gateway is configured. */
  readonly forwarder?: string
  /** Path of a PEM bundle for the agents' TLS; default: the root certificates that Node ships. */
  readonly caBundle?: string
}

/** The name under which the forwarder is installed. */
export const FORWARDER = "relay-forwarder"

/** What no trial can run without. */
export const REQUIRED_PROGRAMS = ["buzz-acp", "buzz-agent", "buzz-dev-mcp"] as const

/** The PEM bundle that a stack directory may bring. */
const CA_BUNDLE = "ca-certificates.crt"

/**
 * Every file in `directory` as a stack: `relay-forwarder` and `ca-certificates.crt` take their places, each other file is a
 * program. Required programs are listed whether they exist or not, so that installing names all that are missing; for the
 * same reason a directory that cannot be read is one without programs.
 */
export const fromDirectory = Effect.fn("StackFiles.fromDirectory")(function* (
  directory: string
): Effect.fn.Return<StackFiles, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const entries = yield* fs.readDirectory(directory).pipe(Effect.orElseSucceed((): ReadonlyArray<string> => []))
  const files = yield* Effect.filter(entries, (entry) =>
    fs.stat(path.join(directory, entry)).pipe(
      Effect.map((info) => info.type === "File"),
      Effect.orElseSucceed(() => false)
    )
  )
  const at = (name: string) => path.join(directory, name)
  const programs = [...REQUIRED_PROGRAMS, ...files.filter((name) => name !== FORWARDER && name !== CA_BUNDLE)]
  return {
    programs: Object.fromEntries(programs.map((name) => [name, at(name)])),
    ...(files.includes(FORWARDER) ? { forwarder: at(FORWARDER) } : {}),
    ...(files.includes(CA_BUNDLE) ? { caBundle: at(CA_BUNDLE) } : {})
  }
})
