import { assert, describe, it } from "@effect/vitest"
import type { TurnFailure, TurnStop } from "@buzz-orchestra/runtime/AgentSignal"
import * as AgentState from "@buzz-orchestra/runtime/AgentState"
import { Schema } from "effect"

const CHANNEL = "channel-1"
const LABEL = `channel ${CHANNEL}`
type Tag = AgentState.AgentState["_tag"]

const ended = (stop: TurnStop): AgentState.AgentEvent => ({ _tag: "TurnEnded", label: LABEL, stop })
const failed = (kind: TurnFailure): AgentState.AgentEvent => ({ _tag: "TurnFailed", kind, detail: "" })
const subscribed: AgentState.AgentEvent = { _tag: "Subscribed", channelId: CHANNEL }
const started: AgentState.AgentEvent = { _tag: "TurnStarted", label: LABEL }
const requeued: AgentState.AgentEvent = { _tag: "Requeued", detail: "" }
const deadLettered: AgentState.AgentEvent = { _tag: "DeadLettered", detail: "" }
const died: AgentState.AgentEvent = { _tag: "ProcessDied", detail: "exited with code 1" }

const EVENTS: Readonly<Record<string, AgentState.AgentEvent>> = {
  subscribed,
  "subscribed elsewhere": { _tag: "Subscribed", channelId: "channel-2" },
  "subscribe failed": { _tag: "SubscribeFailed", channelId: CHANNEL, detail: "" },
  "no subscriptions": { _tag: "NoSubscriptions", detail: "" },
  started,
  complete: ended("end_turn"),
  "max tokens": ended("max_tokens"),
  "max requests": ended("max_turn_requests"),
  refused: ended("refused"),
  cancelled: ended("cancelled"),
  "hard timeout": failed("hard-timeout"),
  "idle timeout": failed("idle-timeout"),
  "agent exited": failed("agent-exited"),
  "prompt error": failed("prompt-error"),
  requeued,
  "dead-lettered": deadLettered,
  "all agents dead": { _tag: "AllAgentsDead" },
  "process died": died,
  delivered: { _tag: "Delivered", channelId: CHANNEL, eventIds: [] },
  "steer acked": { _tag: "SteerAcked", eventId: "", delivered: true },
  usage: { _tag: "Usage", sessionId: "s", input: 1, output: 1, cached: undefined },
  "tool called": { _tag: "ToolCalled", title: "shell" },
  "handed off": { _tag: "HandedOff", number: 1, before: 1 },
  truncated: { _tag: "HistoryTruncated", detail: "" }
}

/** How each state is reached from the launch. */
const PATHS: Readonly<Record<Tag, ReadonlyArray<AgentState.AgentEvent>>> = {
  Starting: [],
  Ready: [subscribed],
  InTurn: [subscribed, started],
  Idle: [subscribed, started, ended("end_turn")],
  Requeued: [subscribed, started, failed("prompt-error")],
  Orphaned: [subscribed, started, failed("prompt-error"), deadLettered],
  Dead: [subscribed, died]
}

/** The whole table, `·` for no change. Columns are the states of `PATHS`. */
const TABLE = `
                     Starting  Ready     InTurn    Idle      Requeued  Orphaned  Dead
subscribed           Ready     ·         ·         ·         ·         ·         ·
subscribed elsewhere ·         ·         ·         ·         ·         ·         ·
subscribe failed     ·         ·         ·         ·         ·         ·         ·
no subscriptions     ·         ·         ·         ·         ·         ·         ·
started              InTurn    InTurn    InTurn    InTurn    InTurn    InTurn    ·
complete             Idle      Idle      Idle      Idle      Idle      Idle      ·
max tokens           Idle      Idle      Idle      Idle      Idle      Idle      ·
max requests         Idle      Idle      Idle      Idle      Idle      Idle      ·
refused              Idle      Idle      Idle      Idle      Idle      Idle      ·
cancelled            Requeued  Requeued  Requeued  Requeued  Requeued  Requeued  ·
hard timeout         Requeued  Requeued  Requeued  Requeued  Requeued  Requeued  ·
idle timeout         Requeued  Requeued  Requeued  Requeued  Requeued  Requeued  ·
agent exited         Requeued  Requeued  Requeued  Requeued  Requeued  Requeued  ·
prompt error         Requeued  Requeued  Requeued  Requeued  Requeued  Requeued  ·
requeued             Requeued  Requeued  Requeued  Requeued  Requeued  Requeued  ·
dead-lettered        Orphaned  Orphaned  Orphaned  Orphaned  Orphaned  Orphaned  ·
all agents dead      Dead      Dead      Dead      Dead      Dead      Dead      ·
process died         Dead      Dead      Dead      Dead      Dead      Dead      ·
delivered            ·         ·         ·         ·         ·         ·         ·
steer acked          ·         ·         ·         ·         ·         ·         ·
usage                ·         ·         ·         ·         ·         ·         ·
tool called          ·         ·         ·         ·         ·         ·         ·
handed off           ·         ·         ·         ·         ·         ·         ·
truncated            ·         ·         ·         ·         ·         ·         ·
`

const after = (events: ReadonlyArray<AgentState.AgentEvent>, now = 0) =>
  events.reduce((state, event) => AgentState.transition(state, event, now), AgentState.initial(CHANNEL, 0))

const view = (tag: Tag, now = 5) => AgentState.toView(after(PATHS[tag]), now)

const rows = TABLE.trim()
  .split("\n")
  .slice(1)
  .map((row) => ({ name: row.slice(0, 21).trim(), cells: row.slice(21).trim().split(/\s+/) }))

describe("AgentState", () => {
  it("the table names every event and every state", () => {
    assert.deepStrictEqual(
      rows.map(({ name }) => name),
      Object.keys(EVENTS)
    )
    for (const tag of Object.keys(PATHS)) assert.strictEqual(after(PATHS[tag as Tag])._tag, tag)
  })

  it.each(rows)("$name", ({ cells, name }) => {
    const event = EVENTS[name]
    assert.isDefined(event)
    for (const [index, tag] of (Object.keys(PATHS) as Array<Tag>).entries()) {
      const before = after(PATHS[tag])
      const next = AgentState.transition(before, event, 1)
      if (cells[index] === "·") assert.strictEqual(next, before, `${tag} × ${name}`)
      else assert.deepStrictEqual([next._tag, next.sinceMillis], [cells[index] as Tag, 1], `${tag} × ${name}`)
    }
  })

  it("a failed turn is not idle until it is given up or nothing comes for 370 seconds", () => {
    const state = after(PATHS.Requeued)
    const early = AgentState.at(state, AgentState.RETRY_MILLIS - 1)
    assert.deepStrictEqual([early._tag, AgentState.isQuiet(early)], ["Requeued", false])
    const late = AgentState.at(state, AgentState.RETRY_MILLIS)
    assert.deepStrictEqual([late._tag, AgentState.isQuiet(late)], ["Orphaned", true])
    assert.strictEqual(late.sinceMillis, AgentState.RETRY_MILLIS)
    assert.strictEqual(AgentState.RETRY_MILLIS, 370_000)
    assert.isTrue(AgentState.isQuiet(after(PATHS.Orphaned)))
  })

  it("each further failure line postpones giving up", () => {
    const again = AgentState.transition(after(PATHS.Requeued), requeued, 300_000)
    assert.strictEqual(AgentState.at(again, AgentState.RETRY_MILLIS)._tag, "Requeued")
    assert.strictEqual(AgentState.toView(again, 300_000)._tag, "Requeued")
  })

  it("a turn is counted once, however many lines its end has", () => {
    const turn = [subscribed, started, failed("idle-timeout"), ended("cancelled"), requeued]
    assert.deepInclude(after(turn), { starts: 1, ends: 1 })
    assert.deepInclude(after([...turn, started, ended("end_turn")]), { starts: 2, ends: 2 })
    assert.deepInclude(after([subscribed, started, started]), { starts: 2, ends: 1 })
  })

  it("counts by ends where a build logs no starts, failures included", () => {
    const state = after([subscribed, ended("end_turn"), failed("hard-timeout"), requeued, ended("end_turn")])
    assert.strictEqual(AgentState.turns(state), 3)
    assert.strictEqual(AgentState.turns(after([subscribed, started, ended("end_turn"), started])), 2)
  })

  it("shows a person what it does", () => {
    assert.deepStrictEqual(view("Starting"), { _tag: "Starting" })
    assert.deepStrictEqual(view("Ready"), { _tag: "Ready" })
    assert.deepStrictEqual(view("InTurn"), { _tag: "InTurn", turn: 1, sinceMillis: 0 })
    assert.deepStrictEqual(view("Idle"), { _tag: "Idle", turns: 1 })
    assert.deepStrictEqual(view("Requeued"), { _tag: "Requeued", turns: 1, detail: "its turn failed" })
    assert.deepStrictEqual(view("Requeued", 400_000), { _tag: "Idle", turns: 1 })
    assert.deepStrictEqual(view("Dead"), { _tag: "Dead", detail: "exited with code 1" })
  })

  const Steps = Schema.Array(
    Schema.Struct({
      event: Schema.Literals(Object.keys(EVENTS)),
      pause: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 400_000 }))
    })
  )
  it.prop(
    "at most one turn is open, counts never fall, and nobody returns from the dead",
    { steps: Steps },
    ({ steps }) => {
      let now = 0
      let state = AgentState.initial(CHANNEL, now)
      for (const { event, pause } of steps) {
        now += pause
        const before = state
        state = AgentState.transition(before, EVENTS[event] ?? died, now)
        assert.isAtLeast(state.starts, before.starts)
        assert.isAtLeast(state.ends, before.ends)
        if (state.starts > 0) assert.isAtMost(state.starts - state.ends, 1)
        if (state._tag === "InTurn") assert.strictEqual(state.starts - state.ends, 1)
        if (before._tag === "Dead") assert.strictEqual(state, before)
        assert.isAtMost(state.sinceMillis, now)
        assert.deepStrictEqual(AgentState.at(AgentState.at(state, now), now), AgentState.at(state, now))
      }
    }
  )
})
