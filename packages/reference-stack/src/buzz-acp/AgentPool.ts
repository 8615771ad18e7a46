/**
 * The agent processes and their sessions: who is free, who has to be replaced, and when.
 */
import { Clock, Effect, Exit, Scope } from "effect"
import { TracingLog } from "../TracingLog.ts"
import type { AgentProcess, AgentStartFailed } from "./AgentProcess.ts"
import * as RespawnPolicy from "./RespawnPolicy.ts"

/** One agent, lent for one turn. Sessions are kept by channel. */
export interface Lease {
  readonly index: number
  readonly process: AgentProcess
  readonly sessions: Map<string, AgentSession>
}

/** A session of a channel, and the prompts it has had. */
export interface AgentSession {
  readonly id: string
  prompts: number
}

export interface AgentPool {
  /** A free agent, if there is one: best the one that knows the channel. */
  lend(channel: string): Lease | undefined
  /** Gives an agent back after its turn; one that is to be replaced is killed first. */
  giveBack(lease: Lease, agent: "kept" | "replaced"): Effect.Effect<void>
  /** Forgets the session of a channel wherever it is. */
  forget(channel: string): void
  /** Whether no agent is left and none is on its way. */
  readonly isDead: () => boolean
}

interface OwnedLease extends Lease {
  hasExited: boolean
}

interface Slot {
  readonly index: number
  deaths: RespawnPolicy.Deaths
  state:
    | { readonly _tag: "Free" | "Lent"; readonly lease: OwnedLease; readonly scope: Scope.Closeable }
    | { readonly _tag: "Starting" | "Dead" }
}

/**
 * Starts `count` agents and returns when each has started or failed; fails when none has. `onChange` runs whenever an agent
 * became free or the last hope died. The scope owns all processes.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly count: number
  readonly start: (index: number) => Effect.Effect<AgentProcess, AgentStartFailed, Scope.Scope>
  readonly onChange: Effect.Effect<void>
}) {
  const log = yield* TracingLog
  const poolScope = yield* Effect.scope
  const slots = Array.from({ length: options.count }, (_, index): Slot => ({ index, deaths: [], state: STARTING }))

  const start = Effect.fnUntraced(function* (slot: Slot) {
    const scope = yield* Scope.fork(poolScope)
    const process = yield* options.start(slot.index).pipe(
      Scope.provide(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
    const lease: OwnedLease = { index: slot.index, process, sessions: new Map(), hasExited: false }
    slot.state = { _tag: "Free", lease, scope }
    yield* Effect.forkIn(watch(slot, lease), scope)
  })

  /** An agent may die while nobody prompts it. */
  const watch = (slot: Slot, lease: OwnedLease): Effect.Effect<void> =>
    Effect.flatMap(lease.process.exited, () => {
      lease.hasExited = true
      return slot.state._tag === "Free" && slot.state.lease === lease ? replaceLater(slot) : Effect.void
    })

  /** In a fiber of the pool: the one that asks may end with the scope that the replacement closes. */
  const replaceLater = (slot: Slot): Effect.Effect<void> => Effect.asVoid(Effect.forkIn(replace(slot), poolScope))

  const replace = (slot: Slot): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { state } = slot
      slot.state = STARTING
      if (state._tag === "Free" || state._tag === "Lent") yield* Scope.close(state.scope, Exit.void)
      const [deaths, respawn] = RespawnPolicy.died(slot.deaths, yield* Clock.currentTimeMillis)
      slot.deaths = deaths
      if (respawn._tag === "CircuitOpen") {
        slot.state = DEAD
        yield* log.log("ERROR", "buzz_acp", "agent crashed too often — circuit open", {
          agent: slot.index,
          crashes: respawn.deaths
        })
        yield* options.onChange
        yield* Effect.sleep(RespawnPolicy.CIRCUIT_MILLIS)
        slot.state = STARTING
      } else yield* Effect.sleep(respawn.delayMillis)
      yield* start(slot).pipe(
        Effect.catch((failure) =>
          Effect.andThen(
            log.log("ERROR", "buzz_acp", failure.detail, { agent: slot.index }),
            Effect.suspend(() => replace(slot))
          )
        )
      )
      yield* options.onChange
    })

  yield* Effect.forEach(
    slots,
    (slot) =>
      start(slot).pipe(
        Effect.catch((failure) => {
          slot.state = DEAD
          return log.log("ERROR", "buzz_acp", failure.detail, { agent: slot.index })
        })
      ),
    { concurrency: "unbounded", discard: true }
  )

  const pool: AgentPool = {
    lend: (channel) => {
      const free = slots.flatMap(({ state }) => (state._tag === "Free" ? [state.lease] : []))
      const lease = free.find(({ sessions }) => sessions.has(channel)) ?? free[0]
      const slot = lease === undefined ? undefined : slots[lease.index]
      if (slot?.state._tag === "Free") slot.state = { ...slot.state, _tag: "Lent" }
      return lease
    },
    giveBack: (lease, agent) =>
      Effect.suspend(() => {
        const slot = slots[lease.index]
        if (slot?.state._tag !== "Lent") return Effect.void
        // It may have died right after its answer.
        if (agent === "replaced" || slot.state.lease.hasExited) return replaceLater(slot)
        slot.state = { ...slot.state, _tag: "Free" }
        return Effect.void
      }),
    forget: (channel) => {
      for (const { state } of slots)
        if (state._tag === "Free" || state._tag === "Lent") state.lease.sessions.delete(channel)
    },
    isDead: () => slots.every(({ state }) => state._tag === "Dead")
  }
  return pool
})

const STARTING = { _tag: "Starting" } as const
const DEAD = { _tag: "Dead" } as const
