/** The shells that images bring, and a duplex on this machine for each: what a container engine's exec would give. */
import { CommandNotRun, EnvironmentError } from "@buzz-orchestra/runtime/EnvironmentError"
import type { OpenProcess } from "@buzz-orchestra/runtime/ByteDuplex"
import { type Duration, Effect } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { existsSync } from "node:fs"
import { spawnDuplex } from "../../src/internal/childDuplex.ts"

export interface TestedShell {
  readonly name: string
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  readonly isInstalled: boolean
  /** Of a group of tests: over the first of them they are quick. */
  readonly options: { readonly tags: Array<string> }
}

const isInstalled = (program: string) => ["/bin", "/usr/bin"].some((folder) => existsSync(`${folder}/${program}`))

const shell = (name: string, argv: TestedShell["argv"], tags: ReadonlyArray<string> = []): TestedShell => ({
  name,
  argv,
  isInstalled: isInstalled(argv[0]),
  options: { tags: [...tags] }
})

export const SHELLS: ReadonlyArray<TestedShell> = [
  shell("dash", ["dash"]),
  shell("bash", ["bash", "--posix"], ["thorough"]),
  shell("busybox", ["busybox", "sh"], ["thorough"])
]

export const refusal = (detail: string) =>
  new EnvironmentError({
    operation: "test",
    reason: new CommandNotRun({ environment: "this machine", action: "start a program", detail })
  })

/**
 * Starts programs here, with `shell` in the place of `sh`, in a session of their own as with a container's exec: the spawner, which
 * waits for a process group, sees only `setsid`.
 */
export const openHere = (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  tested: TestedShell
): OpenProcess => {
  return ([program, ...args]) => {
    const argv = program === "sh" ? [...tested.argv, ...args] : [program, ...args]
    const command = ChildProcess.make("setsid", ["--wait", ...argv], { extendEnv: true })
    return spawnDuplex(spawner, command, (cause) => refusal(cause.message))
  }
}

/** Waits until `holds`, looking every few milliseconds. */
export const eventually = <A, E, R>(
  read: Effect.Effect<A, E, R>,
  holds: (value: A) => boolean,
  within: Duration.Input = "10 seconds"
) =>
  Effect.gen(function* () {
    let value = yield* read
    while (!holds(value)) {
      yield* Effect.sleep("5 millis")
      value = yield* read
    }
    return value
  }).pipe(Effect.timeout(within))
