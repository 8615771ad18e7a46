import type { TrialHappening } from "@buzz-orchestra/runtime/TrialEvent"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Ref } from "effect"
import { first } from "../src/internal/stackWatch.ts"
import * as TeamKeeper from "../src/internal/teamKeeper.ts"

const CHANNEL = "c1"
const AGENTS = ["lead-1", "worker-1"]

/** A team, and what it told to somebody who takes a while to note it. */
const keeping = Effect.gen(function* () {
  const told = yield* Ref.make<ReadonlyArray<TrialHappening>>([])
  const note = (happening: TrialHappening) =>
    Effect.andThen(
      Effect.yieldNow,
      Ref.update(told, (all) => [...all, happening])
    )
  const views = Effect.map(Ref.get(told), (all) =>
    all.flatMap((event) => (event._tag === "AgentChanged" ? [`${event.agentId} ${event.view._tag}`] : []))
  )
  return { team: yield* TeamKeeper.make(CHANNEL, note), views }
})

const all = { concurrency: "unbounded", discard: true } as const

describe("teamKeeper", () => {
  it.effect("tells a change before whoever waits for it goes on", () =>
    Effect.gen(function* () {
      const { team, views } = yield* keeping
      const known = yield* first(team.changes, ({ agents }) =>
        AGENTS.every((agentId) => agents.get(agentId)?.state._tag === "Ready") ? Option.some(views) : Option.none()
      ).pipe(Effect.flatten, Effect.forkScoped)
      yield* Effect.forEach(AGENTS, team.launched)
      yield* Effect.forEach(AGENTS, (agentId) => team.heard(agentId, { _tag: "Subscribed", channelId: CHANNEL }))
      assert.includeMembers([...(yield* Fiber.join(known))], ["lead-1 Ready", "worker-1 Ready"])
    })
  )

  it.effect("loses no change of several at once", () =>
    Effect.gen(function* () {
      const { team, views } = yield* keeping
      yield* Effect.forEach(AGENTS, team.launched, all)
      assert.sameMembers([...(yield* team.state).agents.keys()], AGENTS)
      assert.sameMembers([...(yield* views)], ["lead-1 Starting", "worker-1 Starting"])
    })
  )
})
