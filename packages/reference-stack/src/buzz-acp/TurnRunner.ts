/**
 * One turn: a batch of events becomes a prompt, the agent works under its time limits, and the log says how it ended.
 */
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import { Clock, Duration, Effect, Exit, Fiber } from "effect"
import { TracingLog } from "../TracingLog.ts"
import type { AcpConfig } from "./AcpConfig.ts"
import type { Lease } from "./AgentPool.ts"
import type { AgentRequestFailed } from "./AgentProcess.ts"
import type { ChannelDirectory } from "./ChannelDirectory.ts"
import type { Presence } from "./Presence.ts"
import * as PromptText from "./PromptText.ts"
import * as TurnOutcome from "./TurnOutcome.ts"

/** What every turn needs. */
export interface TurnContext {
  readonly config: AcpConfig
  /** Texts of the configured prompts, read once. */
  readonly prompts: { readonly base: string | undefined; readonly system: string | undefined }
  readonly directory: ChannelDirectory
  readonly presence: Presence
}

/** A turn that runs, for whoever wants to end it. */
export interface RunningTurn {
  /** The session being prompted, once it is known. */
  sessionId: string | undefined
  cancelledBy: TurnOutcome.CancelledBy | undefined
}

/** What a turn is about. */
export interface Turn {
  readonly channel: string
  /** Oldest first; never empty. */
  readonly batch: ReadonlyArray<NostrEvent>
  readonly running: RunningTurn
}

/** Time for an agent to answer a cancel. */
const CANCEL_GRACE: Duration.Input = "30 seconds"

/** Runs the turn to its end and logs it. Never fails: a failure is an outcome. */
export const run = Effect.fn("TurnRunner.run")(function* (context: TurnContext, lease: Lease, turn: Turn) {
  const { log } = yield* TracingLog
  const { batch, channel } = turn
  const last = batch.at(-1)
  yield* log("INFO", "pool::prompt", `turn starting for channel ${channel}`)
  const signs = [
    context.presence.react(batch, "💬"),
    ...(context.config.typing && last !== undefined ? [context.presence.typing(channel, last)] : [])
  ]
  const working = yield* Effect.forkChild(Effect.all(signs, { concurrency: "unbounded", discard: true }))
  const outcome = yield* work(context, lease, turn).pipe(Effect.ensuring(Fiber.interrupt(working)))
  for (const line of TurnOutcome.endLines(outcome, channel, lease.index))
    yield* log(line.level, line.target, line.message, line.fields)
  if (TurnOutcome.consequence(outcome).batch === "delivered")
    yield* log(
      "INFO",
      "pool::prompt",
      `turn delivered Buzz events for channel ${channel}: ${batch
        .map(({ id }) => id)
        .toSorted()
        .join(",")}`
    )
  return outcome
})

const work = Effect.fnUntraced(
  function* (context: TurnContext, lease: Lease, turn: Turn) {
    const { channel, running } = turn
    const known = lease.sessions.get(channel)
    const session = known ?? (yield* openSession(context, lease, channel))
    running.sessionId = session.id
    session.prompts += 1
    const text = yield* promptText(context, turn, session.prompts === 1)
    const outcome = yield* prompted(context.config, lease, session.id, text, running)
    const { maxTurnsPerSession } = context.config
    const isWornOut = maxTurnsPerSession > 0 && session.prompts >= maxTurnsPerSession
    if (TurnOutcome.consequence(outcome).session === "rotated" || isWornOut) lease.sessions.delete(channel)
    return outcome
  },
  Effect.catchTag("AgentRequestFailed", (failure) => Effect.succeed(ofFailure(failure)))
)

const openSession = Effect.fnUntraced(function* (context: TurnContext, lease: Lease, channel: string) {
  const { log } = yield* TracingLog
  const id = yield* lease.process.newSession
  yield* log("INFO", "acp::session", `session created: ${id}`)
  yield* log("INFO", "pool::session", `created session ${id} for channel ${channel}`)
  const session = { id, prompts: 0 }
  lease.sessions.set(channel, session)
  if (context.config.initialMessage !== undefined) yield* lease.process.prompt(id, context.config.initialMessage)
  return session
})

const promptText = Effect.fnUntraced(function* (
  { config, directory, prompts }: TurnContext,
  { batch, channel }: Turn,
  isFirst: boolean
) {
  const info = yield* directory.channel(channel)
  const transcript = yield* directory.transcript(info, batch, config.contextMessageLimit)
  return PromptText.compose({
    base: isFirst ? prompts.base : undefined,
    system: isFirst ? prompts.system : undefined,
    channel: info,
    transcript,
    events: batch,
    names: yield* directory.names([...batch, ...transcript])
  })
})

/** The prompt under both limits: silence, and the whole time. */
const prompted = Effect.fnUntraced(function* (
  config: AcpConfig,
  lease: Lease,
  sessionId: string,
  text: string,
  running: RunningTurn
) {
  const { log } = yield* TracingLog
  const startedAt = yield* Clock.currentTimeMillis
  const answer = yield* Effect.forkChild(lease.process.prompt(sessionId, text))
  const idle = Duration.seconds(config.idleTimeoutSeconds)
  const end = yield* Effect.raceAllFirst([
    Effect.map(Fiber.await(answer), (exit) => ({ _tag: "Answered" as const, exit })),
    Effect.as(silence(lease, startedAt, Duration.toMillis(idle)), { _tag: "Idle" as const }),
    Effect.as(Effect.sleep(Duration.seconds(config.maxTurnSeconds)), { _tag: "TookTooLong" as const })
  ])
  if (end._tag === "Answered") return yield* ofAnswer(end.exit, running)
  if (end._tag === "TookTooLong") {
    yield* Fiber.interrupt(answer)
    return TurnOutcome.tookTooLong(config.maxTurnSeconds)
  }
  const line = TurnOutcome.idleLine(config.idleTimeoutSeconds, sessionId)
  yield* log(line.level, line.target, line.message)
  yield* lease.process.cancel(sessionId)
  const late = yield* Effect.timeoutOption(Fiber.await(answer), CANCEL_GRACE)
  yield* Fiber.interrupt(answer)
  const cancelled = late._tag === "Some" && Exit.isSuccess(late.value)
  return TurnOutcome.idledOut({ seconds: config.idleTimeoutSeconds, sessionId, cancelled })
})

/** Completes once the agent has written nothing for so long. What it did not write before the turn does not count. */
const silence = (lease: Lease, startedAt: number, limitMillis: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (;;) {
      const turnMillis = (yield* Clock.currentTimeMillis) - startedAt
      const silentMillis = Math.min(turnMillis, yield* lease.process.idleMillis)
      if (silentMillis >= limitMillis) return
      yield* Effect.sleep(limitMillis - silentMillis)
    }
  })

const ofAnswer = (
  exit: Exit.Exit<TurnOutcome.StopReason, AgentRequestFailed>,
  running: RunningTurn
): Effect.Effect<TurnOutcome.TurnOutcome, AgentRequestFailed> =>
  Effect.map(exit, (reason) => ({ _tag: "Stopped", reason, by: running.cancelledBy }))

const ofFailure = (failure: AgentRequestFailed): TurnOutcome.TurnOutcome => {
  switch (failure.kind) {
    case "error":
      return { _tag: "AgentReportedError", detail: failure.detail }
    case "protocol":
      return { _tag: "ProtocolBroken", detail: failure.detail }
    case "exited":
      return { _tag: "AgentExited" }
  }
}
