/**
 * Starts one program of the stack under a scope, confirmed by the watch, and ends it with the scope.
 */
import { Clock, Duration, Effect, Option, Ref, type Scope } from "effect"
import type { AgentNotLaunched as Refusal } from "../RuntimeLaunchError.ts"
import type { EnvironmentError } from "../EnvironmentError.ts"
import { EnvironmentService, type EnvironmentVariables } from "../EnvironmentService.ts"
import { AgentNotLaunched } from "../RuntimeLaunchError.ts"
import type { ProgramEnd } from "../TeamState.ts"
import { bounded, exitWithin } from "./bounded.ts"
import { exitScript, parseExit } from "./exitScript.ts"
import { couldNotStart } from "./exitStatus.ts"
import { launchScript, parseStarted, type Started } from "./launchScript.ts"
import { quote } from "./shellText.ts"
import { first, type StackWatch } from "./stackWatch.ts"
import { stopScript } from "./stopScript.ts"
import type { TeamKeeper } from "./teamKeeper.ts"

/** Starting a program takes milliseconds; an environment that cannot do it in this time will not. */
const START_TIME_LIMIT = Duration.seconds(20)
/** The same for one that does not even keep to the limit. Nobody can interrupt a launch, so it must end by itself. */
const START_DEADLINE = Duration.seconds(25)
/** Ending one program takes its grace and a little; nobody can interrupt that either. */
const STOP_DEADLINE = Duration.seconds(10)
/** The watch reports a new process within a round or two; this long without it means that it never will. */
const SIGHTING_DEADLINE = Duration.seconds(10)
/** How long a program may take to end after TERM. */
const STOP_GRACE_MILLIS = 2000
/** Last words are worth waiting for, but not for long. */
const LAST_WORDS_DEADLINE = Duration.seconds(1)
/** The shell that waits for a program notes its exit code at once; the script looks for it for a second. */
const EXIT_CODE_DEADLINE = Duration.seconds(5)

export interface StartOptions {
  readonly name: string
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly env?: EnvironmentVariables
  readonly user?: string
  readonly become?: ReadonlyArray<string>
}

export interface Starter {
  /** Returns once the watch has seen the process; a program that could not be executed is a refusal. */
  start(options: StartOptions): Effect.Effect<number, Refusal | EnvironmentError, Scope.Scope>
  /** Takes a program that runs already for one that was started; returns once the watch has seen it. */
  adopt(program: Started & { readonly name: string }): Effect.Effect<void, Refusal | EnvironmentError, Scope.Scope>
  /** Succeeds when the process has ended. */
  end(name: string, pid: number): Effect.Effect<ProgramEnd, EnvironmentError>
  /** To be told of each death that the watch reports. */
  conclude(name: string, pid: number): Effect.Effect<void>
  /** What a program said last, redacted. */
  lastLines(name: string): Effect.Effect<ReadonlyArray<string>>
  /** What was started, by name. */
  readonly started: Effect.Effect<ReadonlyMap<string, Started>>
}

export const make = Effect.fnUntraced(function* (options: {
  readonly logs: string
  readonly team: TeamKeeper
  readonly watch: StackWatch
  readonly redact: (text: string) => string
  /** Whether programs are being ended on purpose; how each of them ended is then nobody's question. */
  readonly expecting: Effect.Effect<boolean>
  /** Told what did not work and is survived. */
  readonly warn: (detail: string) => Effect.Effect<void>
}): Effect.fn.Return<Starter, never, EnvironmentService> {
  const { exec } = yield* EnvironmentService
  const { logs, redact, team, watch } = options
  const running = yield* Ref.make<ReadonlyMap<string, Started>>(new Map())

  const lastLines = (name: string) => Effect.map(watch.lastLines(name), (lines) => lines.map(redact))

  const conclude = Effect.fnUntraced(function* (name: string, pid: number) {
    const at = yield* Clock.currentTimeMillis
    const current = (yield* Ref.get(running)).get(name)?.pid
    if (current !== undefined && current !== pid) return
    if (yield* options.expecting) return
    const told = yield* bounded(EXIT_CODE_DEADLINE, exec(exitScript(logs, name)))
    if (told.error !== undefined) yield* options.warn(`how ${name} ended is not known: ${told.error}`)
    const { sizes, status } = parseExit(Option.match(told.value, { onNone: () => "", onSome: ({ stdout }) => stdout }))
    yield* Effect.ignore(Effect.timeoutOption(watch.handled(sizes), LAST_WORDS_DEADLINE))
    yield* team.ended(name, { pid, at, ...status })
  })

  const end = (name: string, pid: number) =>
    Effect.raceFirst(
      first(team.changes, ({ ended }) => {
        const end = ended.get(name)
        return end?.pid === pid ? Option.some(end) : Option.none()
      }),
      watch.lost
    )

  const refused = Effect.fnUntraced(function* (name: string, failure: Failure) {
    const refusal = { exitCode: undefined, ...failure, agentId: name, lastLines: yield* lastLines(name) }
    return yield* new AgentNotLaunched(refusal)
  })

  const stop = Effect.fnUntraced(function* (name: string, started: Started) {
    const sighting = yield* watch.find(name, started.pid)
    const startTime = started.startTime ?? sighting?.startTime
    if (sighting?.alive === false || startTime === undefined) return
    const script = stopScript({ pid: started.pid, startTime, graceMillis: STOP_GRACE_MILLIS })
    const { error } = yield* bounded(STOP_DEADLINE, exec(script))
    if (error !== undefined) yield* options.warn(`${name} (pid ${started.pid}) could not be ended: ${error}`)
  })

  /** Not interruptible between the start and the finalizer that ends what was started. */
  const begin = (program: StartOptions) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const { env, name, user } = program
        const launching = exec(launchScript({ ...program, logs }), {
          timeLimit: START_TIME_LIMIT,
          ...(env === undefined ? {} : { env }),
          ...(user === undefined ? {} : { user })
        })
        const exit = yield* exitWithin(START_DEADLINE, launching)
        if (Option.isNone(exit)) {
          const detail = `the environment did not answer within ${Duration.format(START_DEADLINE)}`
          return yield* refused(name, { why: "no-pid", detail })
        }
        const result = yield* exit.value
        const started = parseStarted(result.stdout)
        if (started === undefined) {
          const detail = redact(result.stderr.trim()) || "its launch printed no pid"
          return yield* refused(name, { why: "no-pid", detail, exitCode: result.exitCode })
        }
        yield* Ref.update(running, (all) => new Map([...all, [name, started]]))
        yield* Effect.addFinalizer(() => stop(name, started))
        return started.pid
      })
    )

  /** What was said and known of an earlier process of this name is not this one's. */
  const forget = Effect.fnUntraced(function* (name: string) {
    yield* watch.reset(name)
    yield* team.restarted(name)
    yield* Ref.update(running, (all) => new Map([...all].filter(([other]) => other !== name)))
  })

  /** Waits until the watch has seen the process, and says whether it lives. */
  const isSeenAlive = Effect.fnUntraced(function* (name: string, pid: number) {
    const sighting = yield* Effect.timeoutOption(watch.sighting(name, pid), SIGHTING_DEADLINE)
    if (Option.isSome(sighting)) return sighting.value.alive
    return yield* refused(name, { why: "no-pid", detail: `the watch never saw its process ${pid}` })
  })

  const adopt = Effect.fnUntraced(function* ({ name, ...program }: Started & { readonly name: string }) {
    yield* forget(name)
    yield* Ref.update(running, (all) => new Map([...all, [name, program]]))
    yield* Effect.addFinalizer(() => stop(name, program))
    // Whoever installed the stack anew has taken the file away that tells the watch of it.
    yield* exec(`echo ${program.pid} >${quote(`${logs}/${name}.pid`)}`)
    if (!(yield* isSeenAlive(name, program.pid)))
      return yield* refused(name, { why: "no-pid", detail: `its process ${program.pid} has ended meanwhile` })
  })

  const start = Effect.fnUntraced(function* (program: StartOptions) {
    const { name } = program
    yield* forget(name)
    const pid = yield* begin(program)
    if (yield* isSeenAlive(name, pid)) return pid
    const { exitCode } = yield* end(name, pid)
    if (couldNotStart(exitCode)) return yield* refused(name, { ...whyNot(yield* lastLines(name)), exitCode })
    return pid
  })

  return { start, adopt, end, conclude, lastLines, started: Ref.get(running) }
})

type Failure = Pick<Refusal, "why" | "detail"> & { readonly exitCode?: number | undefined }

/** What a shell said when it could not execute a program. */
const whyNot = (lines: ReadonlyArray<string>): Failure => {
  const detail = lines.at(-1) ?? "the shell could not execute it"
  if (/argument list too long/i.test(detail)) return { why: "too-big", detail }
  // A missing loader is reported as a missing file, although the program is there.
  if (/exec format error|not found|no such file/i.test(detail)) return { why: "exec-format", detail }
  return { why: "refused", detail }
}
