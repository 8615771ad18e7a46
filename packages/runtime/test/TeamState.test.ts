import { testTrialHandle } from "@buzz-orchestra/relay/testing/TestTrialHandle"
import { signedBy } from "@buzz-orchestra/relay/testing/TestIdentity"
import type { AgentSignal } from "@buzz-orchestra/runtime/AgentSignal"
import * as Delivery from "@buzz-orchestra/runtime/Delivery"
import * as TeamState from "@buzz-orchestra/runtime/TeamState"
import * as Usage from "@buzz-orchestra/runtime/Usage"
import { assert, describe, it } from "@effect/vitest"

const CHANNEL = "c1"
const team = TeamState.launched(TeamState.launched(TeamState.initial, "lead-1", CHANNEL, 0), "worker-1", CHANNEL, 0)
const heard = (state: TeamState.TeamState, agentId: string, ...signals: ReadonlyArray<AgentSignal>) =>
  signals.reduce((state, signal, at) => TeamState.heard(state, agentId, signal, at + 1), state)
const usage = (input: number): AgentSignal => ({
  _tag: "Usage",
  sessionId: "s",
  input,
  output: 1,
  cached: undefined
})
const START: AgentSignal = { _tag: "TurnStarted", label: `channel ${CHANNEL}` }
const END: AgentSignal = { _tag: "TurnEnded", label: `channel ${CHANNEL}`, stop: "end_turn" }
const SUBSCRIBED: AgentSignal = { _tag: "Subscribed", channelId: CHANNEL }

const refusal = (...signals: ReadonlyArray<AgentSignal>) =>
  heard(team, "lead-1", ...signals).agents.get("lead-1")?.refusal

describe("TeamState", () => {
  it("keeps the agents in the order of launch", () => {
    assert.deepStrictEqual([...TeamState.states(team).keys()], ["lead-1", "worker-1"])
  })

  it("comes back unchanged when a signal means nothing here", () => {
    assert.strictEqual(heard(team, "stranger-1", START), team)
    assert.strictEqual(heard(team, "lead-1", { _tag: "ToolCalled", title: "ls" }), team)
    assert.strictEqual(heard(team, "lead-1", { _tag: "Subscribed", channelId: "other" }), team)
  })

  it("follows states and usage per agent", () => {
    const state = heard(team, "lead-1", SUBSCRIBED, START, usage(10), END)
    assert.strictEqual(state.agents.get("lead-1")?.state._tag, "Idle")
    assert.strictEqual(state.agents.get("worker-1")?.state._tag, "Starting")
    assert.strictEqual(Usage.totals(state.agents.get("lead-1")?.usage ?? Usage.initial)?.inputTokens, 10)
  })

  it("keeps the first refusal of the trial's channel only", () => {
    const other: AgentSignal = { _tag: "SubscribeFailed", channelId: "other", detail: "x" }
    const failed: AgentSignal = { _tag: "SubscribeFailed", channelId: CHANNEL, detail: "restricted" }
    assert.isUndefined(refusal(other))
    assert.strictEqual(refusal(other, failed), `failed to subscribe to channel ${CHANNEL}: restricted`)
    assert.strictEqual(refusal({ _tag: "NoSubscriptions", detail: "none" }, failed), "none")
  })

  it("settles mentions with the receipts of the agents they name", () => {
    const handle = testTrialHandle()
    const [lead, worker] = handle.credentials
    if (lead === undefined || worker === undefined) return assert.fail("the test's trial has two agents")
    const agents = handle.credentials.map(({ agentId, identity }) => ({ agentId, pubkey: identity.pubkey }))
    const event = signedBy(lead.identity, { kind: 9, tags: [["p", worker.identity.pubkey]], content: "do it" })
    const noticed = TeamState.noticed(team, event, agents)
    assert.deepStrictEqual(Delivery.undelivered(noticed.delivery), [{ agentId: "worker-1", eventId: event.id }])
    assert.strictEqual(TeamState.noticed(noticed, event, agents), noticed)
    const delivered = heard(noticed, "worker-1", { _tag: "Delivered", channelId: CHANNEL, eventIds: [event.id] })
    assert.deepStrictEqual(Delivery.undelivered(delivered.delivery), [])
  })

  it("records how programs ended, agents and others, until they are started again", () => {
    const end = { pid: 1, exitCode: 1, signal: undefined, detail: "exited with code 1", at: 5 }
    const state = TeamState.ended(TeamState.ended(team, "lead-1", end), "relay-forwarder", end)
    assert.deepInclude(state.agents.get("lead-1")?.state, { _tag: "Dead", detail: "exited with code 1" })
    assert.deepStrictEqual([...state.ended.keys()], ["lead-1", "relay-forwarder"])
    assert.deepStrictEqual([...TeamState.restarted(state, "relay-forwarder").ended.keys()], ["lead-1"])
    assert.strictEqual(TeamState.restarted(team, "relay-forwarder"), team)
  })

  it("waits for the usage that agents owe, and for the last turn of the one that finishes", () => {
    assert.deepStrictEqual(TeamState.owing(team, "lead-1"), [])
    assert.deepStrictEqual(TeamState.owing(heard(team, "lead-1", START), undefined), ["lead-1"])
    const working = heard(heard(team, "lead-1", START, usage(1)), "worker-1", START, usage(1))
    assert.deepStrictEqual(TeamState.owing(working, undefined), [])
    assert.deepStrictEqual(TeamState.owing(working, "lead-1"), ["lead-1"])
    assert.deepStrictEqual(TeamState.owing(heard(working, "lead-1", END), "lead-1"), [])
  })

  it("expects nothing of the dead", () => {
    const end = { pid: 1, exitCode: 1, signal: undefined, detail: "gone", at: 5 }
    assert.deepStrictEqual(TeamState.owing(TeamState.ended(heard(team, "lead-1", START), "lead-1", end), "lead-1"), [])
  })
})
