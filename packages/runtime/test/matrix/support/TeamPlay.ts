/**
 * What the team of a case does by itself: each agent according to its fate, the lead according to the story. Owned by a scope
 * of the case, not by the trial.
 */
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { FORWARDER } from "@buzz-orchestra/runtime/StackFiles"
import { RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { Effect, type Scope } from "effect"
import type { FaultScript, Fate } from "./FaultScript.ts"
import { CHANNEL, IDENTITIES, unsigned } from "./FaultyDoubles.ts"
import { lost } from "./FaultyEnvironment.ts"

/** How the trial's calls move the team. */
export interface Team {
  readonly isLost: () => boolean
  /** A program was started. */
  readonly onLaunch: (name: string) => Effect.Effect<void>
  /** Somebody ends one program, by KILL at last. */
  readonly onStop: (pid: number) => Effect.Effect<void>
  /** The task was posted. */
  readonly onTask: Effect.Effect<void>
}

/** The agents of a case, the orchestrator first. */
export const agentIds = ({ fates }: FaultScript): ReadonlyArray<string> =>
  fates.map((_, index) => (index === 0 ? "lead-1" : `worker-${index}`))

/** Sets the play up; `scope` owns whatever of it still runs. */
export const play = Effect.fnUntraced(function* (script: FaultScript, scope: Scope.Scope) {
  const stack = yield* TestStack
  const relay = yield* TestRelay
  const recording = yield* RecordingEnvironment
  const fates = new Map(agentIds(script).map((agentId, index) => [agentId, script.fates[index] ?? "works"]))
  const [lead = "lead-1"] = fates.keys()
  let isLost = false

  /** The dead say nothing. */
  const log = Effect.fnUntraced(function* (agentId: string, target: string, message: string, level?: "DEBUG") {
    if ((yield* stack.programs).get(agentId)?.alive === true) yield* stack.log(agentId, target, message, level)
  })

  const turn = Effect.fnUntraced(function* (agentId: string) {
    yield* log(agentId, "pool::prompt", `turn starting for channel ${CHANNEL}`)
    yield* Effect.sleep("2 seconds")
    if (fates.get(agentId) === "dies in a turn") return yield* stack.die(agentId, 139)
    if (script.story === "done" || script.story === "owing")
      yield* relay.push(unsigned(IDENTITIES[1]!.pubkey, "DONE: it is there", [["h", CHANNEL]]))
    if (script.story === "owing") return
    yield* log(agentId, "acp::usage", USAGE, "DEBUG")
    yield* log(agentId, "pool::prompt", `turn complete for channel ${CHANNEL}: end_turn`)
  })

  const begin = Effect.fnUntraced(function* (agentId: string, fate: Fate) {
    yield* Effect.sleep("100 millis")
    if (fate === "dies before ready") return yield* stack.die(agentId, 101)
    if (fate === "refuses") return yield* log(agentId, "buzz_acp", `failed to subscribe to channel ${CHANNEL}: no`)
    if (fate === "never ready") return
    yield* log(agentId, "buzz_acp", `subscribed to channel ${CHANNEL}`)
    if (fate === "dies at ready") yield* stack.die(agentId, 101)
  })

  if (script.lostAt !== undefined)
    yield* Effect.sync(() => (isLost = true)).pipe(
      Effect.andThen(recording.failWatch(lost("its first process has ended"))),
      Effect.delay(script.lostAt),
      Effect.forkIn(scope)
    )

  const team: Team = {
    isLost: () => isLost,
    onLaunch: Effect.fnUntraced(function* (name) {
      if (name === FORWARDER) return yield* stack.print(name, "forwarding 127.0.0.1:3600 -> gateway:3600")
      const fate = fates.get(name) ?? "works"
      if (fate === "resists TERM") yield* stack.resist(name, "TERM")
      if (fate === "resists KILL") yield* stack.resist(name, "KILL")
      yield* Effect.forkIn(begin(name, fate), scope)
    }),
    onStop: Effect.fnUntraced(function* (pid) {
      for (const program of (yield* stack.programs).values())
        if (program.pid === pid && fates.get(program.name) !== "resists KILL") yield* stack.die(program.name, 137)
    }),
    onTask: script.story === "silent" ? Effect.void : Effect.asVoid(Effect.forkIn(turn(lead), scope))
  }
  return team
})

const USAGE = `goose usage update session_id="s" input=Some(100) output=Some(10)`
