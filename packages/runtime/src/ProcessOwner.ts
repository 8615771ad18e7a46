/**
 * The owner of a local sandbox as a variable in the environment of its first process, which everybody on this machine who
 * may end the process can read. It says the same as the labels of a container.
 */
import { Clock, Effect, FileSystem, Option, Schema } from "effect"
import { HostProcess } from "./docker/HostProcess.ts"
import { Owner } from "./docker/OwnerLabels.ts"

/** The variable's name. */
export const OWNER_VARIABLE = "BUZZ_ORCHESTRA_OWNER"

const Encoded = Schema.fromJsonString(Owner)
const encode = Schema.encodeSync(Encoded)
const decode = Schema.decodeUnknownOption(Encoded)

/** The variable with its value. */
export const toVariable = (owner: Owner): Readonly<Record<string, string>> => ({ [OWNER_VARIABLE]: encode(owner) })

/**
 * What an environment, as `/proc/<pid>/environ` has it, says: nothing, an owner, or something under our name that is no
 * owner (`invalid`).
 */
export const inEnvironment = (environment: string): Owner | "invalid" | undefined => {
  const prefix = `${OWNER_VARIABLE}=`
  const entry = environment.split("\0").find((variable) => variable.startsWith(prefix))
  if (entry === undefined) return undefined
  return Option.getOrElse(decode(entry.slice(prefix.length)), () => "invalid" as const)
}

/** The same of a line of `ps`, where spaces stand between the variables: a value ends with the object that it is. */
export const inCommand = (line: string): Owner | "invalid" | undefined => {
  if (!line.includes(`${OWNER_VARIABLE}=`)) return undefined
  const [, value = ""] = new RegExp(`(?:^| )${OWNER_VARIABLE}=(\\{.*?\\})(?: |$)`).exec(line) ?? []
  return Option.getOrElse(decode(value), () => "invalid" as const)
}

/** This process as the owner of something it makes now, for a trial where that is known. */
export const current = Effect.fn("ProcessOwner.current")(function* (trial: {
  readonly runId: string
  readonly trialId: string
}): Effect.fn.Return<Owner, never, FileSystem.FileSystem> {
  const { self } = yield* HostProcess.pipe(Effect.provide(HostProcess.layer))
  const created = new Date(yield* Clock.currentTimeMillis).toISOString()
  return { run: trial.runId, trial: trial.trialId, ...self, created }
})
