import { assert, describe, it } from "@effect/vitest"
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import { signedBy } from "@buzz-orchestra/relay/testing/TestIdentity"
import { testTrialHandle } from "@buzz-orchestra/relay/testing/TestTrialHandle"
import type { AgentEvent } from "@buzz-orchestra/runtime/AgentState"
import * as AgentState from "@buzz-orchestra/runtime/AgentState"
import {
  type CompletionInput,
  decide,
  findDone,
  QUIET_MILLIS,
  SOLO_QUIET_MILLIS,
  type Team
} from "@buzz-orchestra/runtime/Completion"
import { Schema } from "effect"

const handle = testTrialHandle()
const [lead, worker] = handle.credentials.map(({ identity }) => identity)
const user = handle.user.identity
if (lead === undefined || worker === undefined) throw new Error("the trial of the tests has two agents")

let second = 1_700_000_000
/** Each message has another time, so that equal texts have different ids. */
const message = (author: typeof user, content: string, kind = EventKind.Message) =>
  signedBy(author, { kind, content, created_at: second++ })

const task = message(user, "@lead-1 write hello.txt")
const done = message(lead, "DONE: hello.txt is there")
const after = { taskEventId: task.id, orchestrator: lead.pubkey }

const TEAM: Team = { agentIds: ["lead-1", "worker-1"], orchestratorId: "lead-1", solo: false }
const SOLO: Team = { agentIds: ["lead-1"], orchestratorId: "lead-1", solo: true }

const CHANNEL = handle.channelId
const LABEL = `channel ${CHANNEL}`
const ready: AgentEvent = { _tag: "Subscribed", channelId: CHANNEL }
const started: AgentEvent = { _tag: "TurnStarted", label: LABEL }
const failed: AgentEvent = { _tag: "TurnFailed", kind: "hard-timeout", detail: "" }
const ended = (stop: "end_turn" | "cancelled" | "refused" | "max_tokens" | "max_turn_requests"): AgentEvent => ({
  _tag: "TurnEnded",
  label: LABEL,
  stop
})

/** An agent after these events, one second apart from 1000 on. */
const agent = (...events: ReadonlyArray<AgentEvent>) =>
  events.reduce(
    (state, event, index) => AgentState.transition(state, event, 1000 * (index + 1)),
    AgentState.initial(CHANNEL, 0)
  )

/** A trial in which nobody said anything yet: now is second 10, the budget ends at second 900. */
const trial = (fields: Partial<CompletionInput> & { readonly agents: ReadonlyArray<AgentState.AgentState> }) => {
  const { agents, ...rest } = fields
  const roster = rest.roster ?? (agents.length === 1 ? SOLO : TEAM)
  return decide({
    roster,
    states: new Map(roster.agentIds.flatMap((id, i) => (agents[i] === undefined ? [] : [[id, agents[i]] as const]))),
    done: undefined,
    undelivered: [],
    lastMessageMillis: 2000,
    channelReadMillis: 10_000,
    nowMillis: 10_000,
    deadlineMillis: 900_000,
    ...rest
  })
}

const idle = agent(ready, started, ended("end_turn"))
const outcome = (decision: ReturnType<typeof decide>) => (decision._tag === "Ended" ? decision.outcome : "waiting")

describe("Completion, the finishing message", () => {
  it("is the orchestrator's first DONE: after the task", () => {
    const later = message(lead, "DONE: again")
    assert.strictEqual(findDone([task, message(lead, "working"), done, later], after), done)
    assert.isUndefined(findDone([task, message(lead, "working")], after))
  })

  it.each([
    ["by another agent", [task, message(worker, "DONE: fake")]],
    ["by the user", [task, message(user, "DONE: fake")]],
    ["quoted inside a message", [task, message(lead, "I will post DONE: soon")]],
    ["quoted as Markdown", [task, message(lead, "> DONE: all")]],
    ["in other letters", [task, message(lead, "Done: all")]],
    ["from before the task", [done, task]],
    ["from before the task, seen again", [done, task, done]],
    ["that is a reaction", [task, message(lead, "DONE: 👍", EventKind.Reaction)]],
    ["without the task", [done]]
  ])("is none %s", (_, seen) => {
    assert.isUndefined(findDone(seen, after))
  })

  it("is judged by the order of sight, never by the authors' clocks", () => {
    const early = signedBy(lead, { kind: EventKind.Message, content: "DONE: slow clock", created_at: 1 })
    assert.strictEqual(findDone([task, early], after), early)
  })

  it("ends every trial at once, whoever works and whatever the time", () => {
    for (const agents of [[idle], [agent(ready, started)], [agent(ready, started), agent(ready)]])
      for (const nowMillis of [3000, 10_000, 900_000])
        assert.deepStrictEqual(trial({ agents, done, nowMillis }), {
          _tag: "Ended",
          outcome: "done",
          detail: "lead-1 posted DONE:",
          completion: done
        })
  })
})

describe("Completion of a team", () => {
  it("says what it waits for", () => {
    const decision = trial({ agents: [agent(ready, started, ended("end_turn"), started), idle], nowMillis: 16_900 })
    assert.deepStrictEqual(decision, {
      _tag: "Waiting",
      sentence: "waiting for lead-1 to post DONE: (lead-1 in turn 2 for 12 s, worker-1 idle)",
      recheckAtMillis: 900_000,
      readChannel: false
    })
  })

  it("a lead whose turn ended is waited for while a worker can still wake it", () => {
    assert.strictEqual(outcome(trial({ agents: [idle, agent(ready, started)] })), "waiting")
  })

  it("is quiescent once everyone has been idle for five seconds and the channel was read since", () => {
    const agents = [idle, agent(ready)]
    const before = trial({ agents, nowMillis: 3000 + QUIET_MILLIS - 1 })
    assert.deepStrictEqual([before._tag, before._tag === "Waiting" && before.recheckAtMillis], ["Waiting", 8000])
    const unread = trial({ agents, channelReadMillis: 2999 })
    assert.isTrue(unread._tag === "Waiting" && unread.readChannel)
    assert.isTrue(outcome(trial({ agents, channelReadMillis: undefined })) === "waiting")
    assert.strictEqual(outcome(trial({ agents, nowMillis: 3000 + QUIET_MILLIS })), "quiescent")
    assert.strictEqual(QUIET_MILLIS, 5000)
  })

  it("starts the five seconds over with each message", () => {
    assert.strictEqual(outcome(trial({ agents: [idle, idle], lastMessageMillis: 6000 })), "waiting")
    assert.strictEqual(outcome(trial({ agents: [idle, idle], lastMessageMillis: 5000 })), "quiescent")
  })

  it.each([
    ["somebody is in a turn", [idle, agent(ready, started)]],
    ["somebody is to try again", [idle, agent(ready, started, failed)]],
    ["somebody was cancelled", [idle, agent(ready, started, ended("cancelled"))]],
    ["somebody is starting", [idle, agent()]],
    ["somebody is dead", [idle, agent(ready, { _tag: "ProcessDied", detail: "" })]],
    ["somebody is unknown", [idle]],
    ["nobody was ever woken", [agent(ready), agent(ready)]],
    ["logs tell no starts", [agent(ready, ended("end_turn")), agent(ready, ended("end_turn"))]],
    ["one log tells no starts", [idle, agent(ready, ended("end_turn"))]]
  ])("is not quiescent while %s", (_, agents) => {
    assert.strictEqual(outcome(trial({ agents, roster: TEAM, nowMillis: 100_000 })), "waiting")
  })

  it("is not quiescent while a mention is on its way", () => {
    const undelivered = [{ agentId: "worker-1", eventId: task.id }]
    const decision = trial({ agents: [idle, idle], undelivered })
    assert.isTrue(decision._tag === "Waiting" && decision.sentence.endsWith("; undelivered: a mention of worker-1)"))
  })

  it("is quiescent when what is undelivered was given up together with a turn", () => {
    const agents = [idle, agent(ready, started, failed)]
    const undelivered = [{ agentId: "worker-1", eventId: task.id }]
    const retry = 3000 + AgentState.RETRY_MILLIS
    const waiting = trial({ agents, undelivered, nowMillis: retry - 1 })
    assert.isTrue(waiting._tag === "Waiting" && waiting.recheckAtMillis === retry)
    const at = { nowMillis: retry + QUIET_MILLIS, channelReadMillis: retry }
    assert.strictEqual(outcome(trial({ agents, undelivered, ...at })), "quiescent")
  })

  it("is timed out at the deadline, and says who did what", () => {
    assert.deepStrictEqual(trial({ agents: [agent(ready, started), agent(ready)], nowMillis: 900_000 }), {
      _tag: "Ended",
      outcome: "timed-out",
      detail: "the budget is used up and lead-1 has not posted DONE: (lead-1 in turn 1 for 898 s, worker-1 ready)",
      completion: undefined
    })
  })
})

describe("Completion of a lone agent", () => {
  const quiet = { nowMillis: 3000 + SOLO_QUIET_MILLIS }

  it.each(["end_turn", "refused", "max_tokens", "max_turn_requests"] as const)("ends with its turn: %s", (stop) => {
    for (const events of [
      [ready, started, ended(stop)],
      [ready, ready, ended(stop)]
    ])
      assert.strictEqual(outcome(trial({ agents: [agent(...events)], ...quiet })), "stopped-without-done")
  })

  it("a working or never woken agent is not mistaken for a finished one", () => {
    for (const events of [
      [],
      [ready],
      [ready, started],
      [ready, started, ended("cancelled")],
      [ready, started, failed]
    ])
      assert.strictEqual(outcome(trial({ agents: [agent(...events)], nowMillis: 100_000 })), "waiting")
  })

  it("a message that its turn posted last is looked for before its silence is believed", () => {
    const unread = trial({ agents: [idle], ...quiet, channelReadMillis: 2999 })
    assert.deepStrictEqual(unread, {
      _tag: "Waiting",
      sentence: "waiting for the relay to say whether lead-1 posted DONE: after all",
      recheckAtMillis: 900_000,
      readChannel: true
    })
    assert.strictEqual(outcome(trial({ agents: [idle], ...quiet, done })), "done")
    const spoke = { nowMillis: 6000, lastMessageMillis: 5000 }
    assert.strictEqual(outcome(trial({ agents: [idle], ...spoke, channelReadMillis: 4999 })), "waiting")
    assert.strictEqual(outcome(trial({ agents: [idle], ...spoke, channelReadMillis: 5000 })), "stopped-without-done")
  })

  it("goes on with what waited behind its turn", () => {
    assert.strictEqual(outcome(trial({ agents: [idle], nowMillis: 3000 + SOLO_QUIET_MILLIS - 1 })), "waiting")
    const undelivered = [{ agentId: "lead-1", eventId: task.id }]
    assert.strictEqual(outcome(trial({ agents: [idle], ...quiet, undelivered })), "waiting")
  })

  it("is told apart when its last turn was lost", () => {
    const lost = agent(ready, started, failed, { _tag: "DeadLettered", detail: "" })
    const decision = trial({ agents: [lost] })
    assert.isTrue(decision._tag === "Ended" && decision.detail.includes("its turn hit the hard timeout, too often"))
  })

  it("says what it waits for", () => {
    const decision = trial({ agents: [agent(ready, started)] })
    assert.strictEqual(
      decision._tag === "Waiting" ? decision.sentence : "",
      "waiting for lead-1 to post DONE: or end its turn (lead-1 in turn 1 for 8 s)"
    )
  })
})

describe("with a script", () => {
  const idle = agent(ready, started, ended("end_turn"))

  it("a DONE: ends the trial only when everything was heard and the turn is over", () => {
    assert.strictEqual(outcome(trial({ agents: [idle], done, unheard: [task.id] })), "waiting")
    assert.strictEqual(outcome(trial({ agents: [agent(ready, started)], done, unheard: [] })), "waiting")
    assert.strictEqual(outcome(trial({ agents: [idle], done, unheard: [] })), "done")
    assert.strictEqual(outcome(trial({ agents: [agent(ready, started)], done })), "done")
  })

  it("a lone agent that goes idle has not stopped before everything was heard", () => {
    const quiet = { agents: [idle], nowMillis: 60_000, channelReadMillis: 59_000 }
    assert.strictEqual(outcome(trial({ ...quiet, unheard: [task.id] })), "waiting")
    assert.strictEqual(outcome(trial({ ...quiet, unheard: [] })), "stopped-without-done")
  })

  it("a budget ends the trial all the same, and says what is missing", () => {
    const late = trial({ agents: [idle], done, unheard: [task.id], nowMillis: 900_000 })
    assert.deepInclude(late, { outcome: "timed-out", completion: undefined })
    assert.include(late._tag === "Ended" ? late.detail : "", "not heard")
    const overBudget = { detail: "lead-1 used 2 of 1 US dollars", sinceMillis: 1000 }
    const spent = trial({ agents: [idle], done, unheard: [task.id], overBudget, channelReadMillis: 2000 })
    assert.strictEqual(outcome(spent), "over-budget")
  })

  it("what it waits for is said, and looked at again when a failed turn is given up", () => {
    const decision = trial({ agents: [agent(ready, started, failed)], done, unheard: [] })
    assert.match(decision._tag === "Waiting" ? decision.sentence : "", /lead-1 to hear and answer the script/)
    assert.strictEqual(decision._tag === "Waiting" ? decision.recheckAtMillis : 0, 3000 + AgentState.RETRY_MILLIS)
  })
})

describe("Completion, as a function of time", () => {
  const EVENTS = [ready, started, failed, ended("end_turn"), ended("cancelled"), ended("refused")]
  const Agent = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: EVENTS.length - 1 })))
  const Millis = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
  const Situation = {
    agents: Schema.Array(Agent),
    undelivered: Schema.Boolean,
    lastMessageMillis: Millis,
    now: Millis,
    later: Millis
  }

  it.prop(
    "an ending stays what it is, and a waiting is looked at again before anything can change",
    Situation,
    (given) => {
      const agents = [[], ...given.agents]
        .slice(-2)
        .map((events) => agent(...events.flatMap((index) => EVENTS[index] ?? [])))
      const at = (nowMillis: number) =>
        trial({
          agents,
          undelivered: given.undelivered ? [{ agentId: "lead-1", eventId: task.id }] : [],
          lastMessageMillis: given.lastMessageMillis,
          channelReadMillis: 2_000_000,
          nowMillis
        })
      const decision = at(given.now)
      if (decision._tag === "Ended") {
        const later = at(given.now + given.later)
        // Past the deadline an unfinished trial is timed out whatever else would have been said of it.
        assert.include([decision.outcome, "timed-out"], outcome(later))
      } else {
        assert.isAbove(decision.recheckAtMillis, given.now)
        assert.isAtMost(decision.recheckAtMillis, 900_000)
        assert.strictEqual(outcome(at(Math.max(given.now, decision.recheckAtMillis - 1))), "waiting")
        assert.match(decision.sentence, /^waiting for /)
      }
      assert.strictEqual(outcome(at(900_000)), "timed-out")
    }
  )
})
