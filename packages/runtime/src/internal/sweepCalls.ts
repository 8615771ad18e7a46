/**
 * The calls of one sweep into its environment. Each has a limit of its own and none fails: a sweep that could not look may
 * still kill, and one that could not send TERM most of all.
 */
import { Cause, Duration, Effect, Exit, Option, Ref } from "effect"
import { CommandNotRun, EnvironmentError } from "../EnvironmentError.ts"
import { EnvironmentService } from "../EnvironmentService.ts"
import type { ProcessSnapshot } from "../SweepPlan.ts"
import { exitWithin, sentence } from "./bounded.ts"
import { randomMarker } from "./randomMarker.ts"
import {
  type Becoming,
  parsePorts,
  parseSnapshot,
  portsScript,
  type ProcessIdentity,
  signalScript,
  snapshotScript
} from "./sweepScript.ts"

export interface SweepCalls {
  /** What runs now; `undefined` when the environment does not tell. */
  readonly look: Effect.Effect<ProcessSnapshot | undefined>
  /** Signals these processes and waits until they are gone, at most `limit`. Signal 0 only waits. */
  readonly signal: (
    name: "TERM" | "KILL" | "0",
    processes: ReadonlyArray<ProcessIdentity>,
    limit: Duration.Duration
  ) => Effect.Effect<void>
  /** The TCP ports that each of these listens on, by pid. */
  readonly ports: (
    processes: ReadonlyArray<ProcessIdentity>
  ) => Effect.Effect<ReadonlyMap<number, ReadonlyArray<number>>>
  /** Fails with what did not work last; to be asked only when something did not. */
  readonly lastError: Effect.Effect<never, EnvironmentError>
}

/** How long an environment may take to answer, beyond what the command itself takes. */
const ANSWER_LIMIT = Duration.seconds(8)

/** Every process's arguments, of which one alone may be large. */
const SNAPSHOT_BYTES = 64 * 1024 * 1024

/** The calls into the environment of the context. `warn` is told of each that did not work. */
export const make = Effect.fnUntraced(function* (
  bin: string,
  warn: (trouble: string) => Effect.Effect<void>,
  becoming: Becoming = []
): Effect.fn.Return<SweepCalls, never, EnvironmentService> {
  const { exec, facts } = yield* EnvironmentService
  const last = yield* Ref.make(Option.none<EnvironmentError>())

  const attempt = Effect.fnUntraced(function* (action: string, command: string, limit: Duration.Duration) {
    const within = Duration.sum(limit, ANSWER_LIMIT)
    const exit = yield* exitWithin(within, exec(command, { cwd: "/", maxOutputBytes: SNAPSHOT_BYTES }))
    const result = Option.getOrElse(exit, () => Exit.die(new Error(`no answer within ${Duration.format(within)}`)))
    if (Exit.isSuccess(result)) return result.value.stdout
    const failure = Option.getOrElse(Cause.findErrorOption(result.cause), () =>
      notRun(facts.name, action, sentence(result.cause))
    )
    yield* Ref.set(last, Option.some(failure))
    yield* warn(failure.reason.message)
    return undefined
  })

  return {
    look: Effect.gen(function* () {
      const marker = yield* randomMarker
      const stdout = yield* attempt(
        "look at its processes",
        snapshotScript(marker, bin, facts.mark, becoming),
        Duration.zero
      )
      return stdout === undefined ? undefined : parseSnapshot(marker, bin, stdout, facts.mark)
    }),
    signal: (name, processes, limit) =>
      processes.length === 0
        ? Effect.void
        : Effect.asVoid(attempt(`send ${name}`, signalScript(name, processes, Duration.toMillis(limit)), limit)),
    ports: (processes) =>
      processes.length === 0
        ? Effect.succeed(new Map())
        : Effect.map(
            attempt(
              "list ports",
              portsScript(
                processes.map(({ pid }) => pid),
                becoming
              ),
              Duration.zero
            ),
            (stdout) => parsePorts(stdout ?? "")
          ),
    lastError: Effect.flatMap(
      Ref.get(last),
      Option.match({
        onNone: () => Effect.die(new Error("a sweep failed although nothing did")),
        onSome: Effect.fail
      })
    )
  }
})

const notRun = (environment: string, action: string, detail: string) =>
  new EnvironmentError({ operation: "Sweep.sweep", reason: new CommandNotRun({ environment, action, detail }) })
