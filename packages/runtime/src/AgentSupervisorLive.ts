/**
 * `AgentSupervisor` over any environment. What the watch tells is folded into one `TeamState`; everything that is waited for
 * is a change of it, so nothing here polls.
 */
import { Cause, Clock, Duration, Effect, Layer, Option, Queue, Ref, type Scope, Stream } from "effect"
import { classify } from "./AgentSignal.ts"
import * as AgentState from "./AgentState.ts"
import {
  type AgentLaunch,
  AgentSupervisor,
  type ProgramAdoption,
  type ProgramLaunch,
  type StackFailure,
  type Supervision,
  type SupervisionOptions
} from "./AgentSupervisor.ts"
import type { EnvironmentError } from "./EnvironmentError.ts"
import { EnvironmentService } from "./EnvironmentService.ts"
import { ownServices } from "./internal/ownServices.ts"
import { sentence } from "./internal/bounded.ts"
import * as Deaths from "./internal/deaths.ts"
import * as StackWatch from "./internal/stackWatch.ts"
import * as StartProgram from "./internal/startProgram.ts"
import * as Team from "./internal/teamKeeper.ts"
import * as TurnSpans from "./internal/turnSpans.ts"
import { AgentsNotReady, SubscriptionFailed } from "./RuntimeLaunchError.ts"
import type { TeamState } from "./TeamState.ts"

/** An agent that announces its end is given this long to end, so that its exit code is known. */
const ANNOUNCED_END_DEADLINE = Duration.seconds(1)

/** The supervisor of whatever environment the layer is given. */
export const layer: Layer.Layer<AgentSupervisor, never, EnvironmentService> = Layer.effect(
  AgentSupervisor,
  Effect.gen(function* () {
    // Without the layer's own scope, which would take the place of the caller's.
    const context = yield* ownServices<EnvironmentService>()
    const open = Effect.fn("AgentSupervisor.open")((options: SupervisionOptions) =>
      Effect.provide(openSupervision(options), context)
    )
    return AgentSupervisor.of({ open })
  })
)

const openSupervision = Effect.fnUntraced(function* (
  options: SupervisionOptions
): Effect.fn.Return<Supervision, EnvironmentError, EnvironmentService | Scope.Scope> {
  const { channelId, layout, redact } = options
  const { upload } = yield* EnvironmentService
  const team = yield* Team.make(channelId, options.publish ?? (() => Effect.void))
  const spans = yield* TurnSpans.make({ parent: options.span, redact })
  // The watch may report a death before there is anything to tell it to.
  const deaths = yield* Queue.unbounded<readonly [name: string, pid: number]>()
  const watch: StackWatch.StackWatch = yield* StackWatch.open({
    directory: layout.logs,
    onEvent: options.onWatchEvent,
    onLine: (name, line) => {
      const signal = classify(line)
      return signal === undefined ? Effect.void : Effect.andThen(team.heard(name, signal), spans.heard(name, signal))
    },
    onDeath: (name, pid) => Effect.asVoid(Queue.offer(deaths, [name, pid]))
  })
  const expecting = yield* Ref.make(false)
  const warn = options.warn ?? Effect.logWarning
  // Who waits is told by the wait itself; once everything is being ended there may be nobody who waits.
  yield* watch.lost.pipe(
    Effect.tapCause((cause) =>
      Effect.flatMap(Ref.get(expecting), (ending) =>
        ending && !Cause.hasInterruptsOnly(cause) ? warn(`the watch ended: ${sentence(cause)}`) : Effect.void
      )
    ),
    Effect.ignoreCause,
    Effect.forkScoped
  )
  const starter = yield* StartProgram.make({
    logs: layout.logs,
    team,
    watch,
    redact,
    expecting: Ref.get(expecting),
    warn
  })
  yield* Stream.fromQueue(deaths).pipe(
    Stream.mapEffect(([name, pid]) => starter.conclude(name, pid), { concurrency: "unbounded" }),
    Stream.runDrain,
    Effect.forkScoped
  )
  const awaitDeath = deathOf(team, starter, Ref.get(expecting), watch.lost)
  const awaitRefusal = refusalOf(team, starter, options)

  const launch = Effect.fn("AgentSupervisor.launch")(function* (agent: AgentLaunch) {
    const { agentId, env, own, promptPath, systemPrompt } = agent
    const user = agent.user === undefined ? {} : { user: agent.user }
    const become = own === undefined ? {} : { become: own.become }
    const owner = own === undefined ? agent.user : `${own.uid}:${own.gid}`
    yield* Effect.annotateCurrentSpan({ agentId })
    yield* team.launched(agentId)
    const content = new TextEncoder().encode(systemPrompt)
    yield* upload({ content }, promptPath, {
      mode: 0o600,
      ...(owner === undefined ? {} : { owner })
    })
    const program = `${layout.bin}/buzz-acp`
    const pid = yield* starter.start({ name: agentId, program, args: [], env, ...user, ...become })
    if ((yield* team.state).ended.get(agentId)?.pid === pid) return yield* awaitDeath
  })

  const running = (name: string, pid: number) => ({
    pid,
    end: starter.end(name, pid),
    awaitLine: (pattern: RegExp) => watch.awaitLine(name, pattern),
    lastLines: starter.lastLines(name)
  })

  const start = Effect.fn("AgentSupervisor.start")(function* (program: ProgramLaunch) {
    return running(program.name, yield* starter.start(program))
  })

  const adopt = Effect.fn("AgentSupervisor.adopt")(function* (program: ProgramAdoption) {
    yield* starter.adopt(program)
    return running(program.name, program.pid)
  })

  const awaitReady = Effect.fn("AgentSupervisor.awaitReady")(function* (
    agentIds: ReadonlyArray<string>,
    within: Duration.Input
  ) {
    const startedAt = yield* Clock.currentTimeMillis
    const ready = StackWatch.first(team.changes, (state) =>
      pending(state, agentIds).length === 0 ? Option.some(undefined) : Option.none()
    )
    const outcome = yield* Effect.timeoutOption(Effect.raceAllFirst([ready, awaitDeath, awaitRefusal]), within)
    if (Option.isSome(outcome)) return
    const elapsedMillis = (yield* Clock.currentTimeMillis) - startedAt
    const late = yield* Effect.forEach(pending(yield* team.state, agentIds).toSorted(), (agentId) =>
      Effect.map(starter.lastLines(agentId), (lastLines) => ({ agentId, lastLines }))
    )
    const configuredMillis = Duration.toMillis(Duration.fromInputUnsafe(within))
    return yield* new AgentsNotReady({ channelId, deadline: { configuredMillis, elapsedMillis }, agents: late })
  })

  return {
    launch,
    start,
    adopt,
    awaitReady,
    awaitDeath,
    lost: watch.lost,
    awaitRefusal,
    state: team.state,
    changes: team.changes,
    noticed: team.noticed,
    expectEnds: Ref.set(expecting, true),
    handled: watch.handled,
    started: starter.started
  }
})

const pending = (state: TeamState, agentIds: ReadonlyArray<string>): ReadonlyArray<string> =>
  agentIds.filter((agentId) => {
    const known = state.agents.get(agentId)
    return known === undefined || !AgentState.isReady(known.state)
  })

const deathOf = (
  team: Team.TeamKeeper,
  starter: StartProgram.Starter,
  expecting: Effect.Effect<boolean>,
  lost: Effect.Effect<never, EnvironmentError>
): Effect.Effect<never, StackFailure> =>
  Effect.gen(function* () {
    const anyDead = StackWatch.first(team.changes, (state) =>
      Deaths.dead(state).length > 0 ? Option.some(state) : Option.none()
    )
    yield* Effect.raceFirst(anyDead, lost)
    const allEnded = StackWatch.first(team.changes, (state) =>
      Deaths.dead(state).every((name) => state.ended.has(name)) ? Option.some(state) : Option.none()
    )
    yield* Effect.timeoutOption(allEnded, ANNOUNCED_END_DEADLINE)
    if (yield* expecting) return yield* Effect.never
    const state = yield* team.state
    const names = Deaths.dead(state)
    const said = yield* Effect.forEach(names, (name) =>
      Effect.map(starter.lastLines(name), (lines) => [name, lines] as const)
    )
    return yield* Deaths.reasonOf(state, names, new Map(said), yield* Clock.currentTimeMillis)
  })

const refusalOf = (
  team: Team.TeamKeeper,
  starter: StartProgram.Starter,
  { channelId, redact }: SupervisionOptions
): Effect.Effect<never, SubscriptionFailed> =>
  Effect.gen(function* () {
    const { agentId, refusal } = yield* StackWatch.first(team.changes, (state) => {
      const [found] = [...state.agents].flatMap(([agentId, { refusal }]) =>
        refusal === undefined ? [] : [{ agentId, refusal }]
      )
      return Option.fromUndefinedOr(found)
    })
    const lastLines = yield* starter.lastLines(agentId)
    return yield* new SubscriptionFailed({ agentId, channelId, said: redact(refusal), lastLines })
  })
