/**
 * What the container engine can do for trials: it is asked who it is, and made to start a container of this machine's own
 * programs, with every kind of limit and no network.
 */
import { ContainerEngine, type EngineFacts } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import type { ContainerLimits } from "@buzz-orchestra/runtime/docker/ContainerSpec"
import { traitsOf } from "@buzz-orchestra/runtime/docker/EngineFlavor"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { Clock, Effect, type FileSystem, type Path } from "effect"
import * as ChosenEngine from "../ChosenEngine.ts"
import * as ContainerEnvironment from "../ContainerEnvironment.ts"
import type { ContainerRequest } from "../EnvironmentRequest.ts"
import { fromError } from "../Failure.ts"
import { HostAccess, type Way } from "../HostAccess.ts"
import { enumerate } from "../internal/enumerate.ts"
import { duration } from "../internal/terminalText.ts"
import type { Finding } from "./Finding.ts"

/** Small enough for every machine. */
const LIMITS = { cpus: 1, memoryMb: 256, storageMb: 512, pids: 512 } as const

const REQUEST: ContainerRequest = {
  _tag: "Container",
  source: { _tag: "ThisMachine" },
  limits: LIMITS,
  network: "none",
  user: undefined
}

/** The engine that trials would use, and a container of it. Leaves an image of a few hundred bytes behind, and nothing else. */
export const checkEngine: Effect.Effect<ReadonlyArray<Finding>, never, FileSystem.FileSystem | Path.Path> = Effect.gen(
  function* () {
    const { facts } = yield* ContainerEngine
    const trial = { command: "doctor", runId: "doctor", trialId: "doctor", stack: { programs: {} }, needsNode: false }
    const started = yield* Clock.currentTimeMillis
    const container = yield* tried(started).pipe(
      Effect.provide(
        ContainerEnvironment.layer(REQUEST, {
          ...trial,
          limits: {},
          timeLimit: "2 minutes",
          onProgress: () => Effect.void
        })
      ),
      Effect.map((found) => judge(facts, found)),
      Effect.catch((error) => Effect.succeed([notTried(fromError(error))]))
    )
    return [engineFinding(facts), ...container]
  }
).pipe(
  Effect.provide(ChosenEngine.layer("doctor")),
  Effect.catch((error) => {
    const { line, next } = fromError(error)
    return Effect.succeed([{ topic: "engine", status: "missing", detail: line, next } satisfies Finding])
  })
)

const engineFinding = ({
  address,
  apiVersion,
  architecture,
  flavor,
  operatingSystem,
  version
}: EngineFacts): Finding => ({
  topic: "engine",
  status: "ok",
  detail: `${flavor} ${version} (API ${apiVersion}) for ${operatingSystem} on ${architecture}, at ${address}`
})

/** What a container turned out to be. */
export interface TriedContainer {
  readonly millis: number
  readonly applied: ContainerLimits
  readonly way: Way
}

const tried = Effect.fnUntraced(function* (started: number) {
  const { exec, facts } = yield* EnvironmentService
  yield* exec("true")
  const found: TriedContainer = {
    millis: (yield* Clock.currentTimeMillis) - started,
    applied: facts.container?.applied.limits ?? {},
    way: yield* HostAccess
  }
  return found
})

const KINDS = { cpus: "cores", memoryMb: "memory", storageMb: "storage", pids: "processes" } as const

/** What it can, and, one by one, what it cannot. Pure. */
export const judge = (facts: EngineFacts, found: TriedContainer): ReadonlyArray<Finding> => {
  const kinds = Object.keys(KINDS) as ReadonlyArray<keyof typeof KINDS>
  const names = (limited: boolean) =>
    kinds.filter((kind) => (found.applied[kind] === LIMITS[kind]) === limited).map((kind) => KINDS[kind])
  const [limited, unlimited] = [names(true), names(false)]
  const bridged = found.way._tag === "Bridge"
  const can = [
    `starts one in ${duration(found.millis)}`,
    ...(limited.length === 0 ? [] : [`limits its ${enumerate(limited)}`]),
    ...(bridged ? ["bridges a relay of this machine into it, whatever its network"] : [])
  ]
  return [
    { topic: "container", status: "ok", detail: can.join("; "), isEnvironment: true },
    ...(unlimited.length === 0
      ? []
      : [cannot(`limit its ${enumerate(unlimited)}`, "do not rely on such a limit; each summary says which one held")]),
    ...(bridged
      ? []
      : [
          cannot(
            "bridge a relay of this machine into it; that needs Linux, root, and an engine on this machine",
            "give it a network, so that it reaches the relay through the engine's gateway"
          )
        ]),
    ...(traitsOf(facts.flavor).reportsOutOfMemory
      ? []
      : [cannot("tell that memory ran out", "take exit code 137 under a memory limit for it")])
  ]
}

const cannot = (what: string, next: string): Finding => ({
  topic: "container",
  status: "warn",
  detail: `cannot ${what}`,
  next
})

/** An engine elsewhere cannot be tried without an image; any other failure is its own. */
const notTried = ({ line, next, reason }: ReturnType<typeof fromError>): Finding =>
  reason === "UsageInvalid"
    ? {
        topic: "container",
        status: "warn",
        detail: `not tried: ${line}`,
        next: "try it with: buzz-orchestra demo --environment docker --image REF",
        isEnvironment: true
      }
    : { topic: "container", status: "missing", detail: line, next, isEnvironment: true }
