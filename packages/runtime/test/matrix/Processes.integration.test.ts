/**
 * Trials over real processes that behave badly: whatever they do, nothing of the stack is alive afterwards, and what was left
 * alone is what the summary says.
 */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import * as Cases from "./support/Cases.ts"
import { DEADLY, LIVELY, type Manner, spared } from "./support/Manners.ts"
import { type RealOutcome, type RealScript, runReal } from "./support/RealCase.ts"

const script = (fields: Partial<RealScript>): RealScript => ({
  team: [[], []],
  story: "done",
  sweepAll: false,
  interrupt: undefined,
  ...fields
})

/** What holds of every case. */
const holds = ({ sweepAll, team }: RealScript, outcome: RealOutcome) => {
  const { left, leftAfterClose, summary, unlike } = outcome
  const allowed = sweepAll ? [] : team.flatMap(spared)
  const listed = summary.sweep?.spared.map(({ command }) => command) ?? []
  assert.deepStrictEqual(left.toSorted(), listed.toSorted(), "left and listed differ")
  assert.isTrue(
    listed.every((command) => allowed.includes(command)),
    `left alone: ${listed.join(", ")}`
  )
  assert.deepStrictEqual(summary.sweep?.survivors ?? [], [])
  assert.deepStrictEqual(unlike, [], "a log differs from its origin")
  assert.deepStrictEqual(leftAfterClose, [])
}

/** They mostly wait for each other's processes. */
const ROW = { timeout: Cases.timeout(240_000), concurrent: true }

/** One trial with a worker of each of these manners. */
const everybody = script({ team: [[], ...LIVELY.map((manner) => [manner])] })
let ofEverybody: Promise<RealOutcome> | undefined

/** A trial of its own for each manner. Where tests are to be quick, one for all of them: what a trial costs is mostly not its agents. */
const trialWith = (manner: Manner) => {
  if (Cases.QUICK)
    return [everybody, Effect.promise(() => (ofEverybody ??= Effect.runPromise(runReal(everybody))))] as const
  const alone = script({ team: [[], [manner]] })
  return [alone, runReal(alone)] as const
}

describe("an agent that", () => {
  for (const [index, manner] of LIVELY.entries())
    it.live(
      `${manner.replaceAll("-", " ")} leaves nothing behind but what the task may have asked for`,
      () =>
        Effect.gen(function* () {
          const [it, running] = trialWith(manner)
          const outcome = yield* running
          holds(it, outcome)
          assert.strictEqual(outcome.outcome, "done")
          assert.deepStrictEqual(outcome.left, it.team.flatMap(spared))
          const agentId = `worker-${Cases.QUICK ? index + 1 : 1}`
          assert.include(
            outcome.summary.agents.map((agent) => agent.agent_id),
            agentId
          )
        }),
      ROW
    )

  const reasons = {
    "exits-before-ready": ["ready", "AgentsDied"],
    "exits-at-ready": ["observe", "AgentsDied"],
    "exits-in-a-turn": ["observe", "AgentsDied"]
  } as const
  for (const manner of DEADLY)
    it.live(
      `${manner.replaceAll("-", " ")} ends the trial with its exit code, and its orphans end with it`,
      () =>
        Effect.gen(function* () {
          const it = script({ team: [[], [manner, "double-forks", "leaves-its-session"]], story: "waiting" })
          const outcome = yield* runReal(it)
          holds(it, outcome)
          const [, reason] = reasons[manner]
          assert.strictEqual(outcome.summary.error?.reason, reason)
          assert.match(outcome.summary.error?.message ?? "", /worker-1 .*exit(ed with)? code 3/)
        }),
      ROW
    )

  it.live(
    "serves is ended as well when all is to be swept",
    () =>
      Effect.gen(function* () {
        const it = script({ team: [["serves"]], sweepAll: true, story: "silent" })
        const outcome = yield* runReal(it)
        holds(it, outcome)
        assert.strictEqual(outcome.outcome, "timed-out")
        assert.deepStrictEqual(outcome.left, [])
      }),
    ROW
  )
})

const chosen = <const A>(values: readonly [A, ...ReadonlyArray<A>]): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(Cases.upTo(values.length - 1), (index) => values[index] ?? values[0])

/** Floods take seconds each and have their row. */
const MANNERS: readonly [Manner, ...ReadonlyArray<Manner>] = [
  "ignores-term",
  ...LIVELY.filter((manner) => manner !== "floods"),
  ...DEADLY
]

const PHASES = ["install", "launch", "ready", "post", "observe", "settle", "sweep", "collect"] as const

const scripts: Arbitrary.Arbitrary<RealScript> = Arbitrary.all({
  team: Arbitrary.array(Arbitrary.array(chosen(MANNERS), { maxLength: 4 }), {
    minLength: 1,
    maxLength: Cases.SOAKING ? 4 : 2
  }),
  story: chosen(["done", "silent"]),
  sweepAll: chosen([false, true]),
  interrupt: Arbitrary.map(
    Arbitrary.all([chosen([false, true]), chosen(PHASES), Cases.upTo(400)]),
    ([isAsked, phase, afterMillis]) => (isAsked ? { phase, afterMillis } : undefined)
  )
})

describe("a team with any of these manners", () => {
  it.live.prop(
    "leaves nothing behind, whenever it is interrupted",
    [scripts],
    ([script]) => Effect.map(runReal(script), (outcome) => holds(script, outcome)),
    {
      timeout: Cases.timeout(180_000),
      arbitrary: { ...Cases.options(20, 500), concurrency: 5, maxShrinks: 30 }
    }
  )
})
