import { assert, describe, it } from "@effect/vitest"
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import { signedBy } from "@buzz-orchestra/relay/testing/TestIdentity"
import { testTrialHandle } from "@buzz-orchestra/relay/testing/TestTrialHandle"
import type { AgentSignal } from "@buzz-orchestra/runtime/AgentSignal"
import * as Delivery from "@buzz-orchestra/runtime/Delivery"
import { Schema } from "effect"

const handle = testTrialHandle()
const [lead, worker] = handle.credentials
const AGENTS = handle.credentials.map(({ agentId, identity }) => ({ agentId, pubkey: identity.pubkey }))
if (lead === undefined || worker === undefined) throw new Error("the trial of the tests has two agents")

const task = signedBy(handle.user.identity, {
  kind: EventKind.Message,
  content: "@lead-1 do it",
  tags: [["p", lead.identity.pubkey]]
})
const request = signedBy(lead.identity, {
  kind: EventKind.Message,
  content: "@worker-1 help",
  tags: [["p", worker.identity.pubkey]]
})

const LABEL = "channel c"
const started: AgentSignal = { _tag: "TurnStarted", label: LABEL }
const complete: AgentSignal = { _tag: "TurnEnded", label: LABEL, stop: "end_turn" }
const delivered = (...eventIds: ReadonlyArray<string>): AgentSignal => ({ _tag: "Delivered", channelId: "c", eventIds })
const acked = (eventId: string, delivered: boolean): AgentSignal => ({ _tag: "SteerAcked", eventId, delivered })

type Step = readonly [agentId: string, signal: AgentSignal] | typeof task
const after = (...steps: ReadonlyArray<Step>) =>
  steps.reduce(
    (delivery, step) =>
      "id" in step ? Delivery.seen(delivery, step, AGENTS) : Delivery.heard(delivery, step[0], step[1]),
    Delivery.initial
  )
const open = (...steps: ReadonlyArray<Step>) => Delivery.undelivered(after(...steps)).map(({ agentId }) => agentId)

describe("Delivery", () => {
  it("a mention is on its way to each agent that it names", () => {
    assert.deepStrictEqual(Delivery.undelivered(after(task, request)), [
      { agentId: "lead-1", eventId: task.id },
      { agentId: "worker-1", eventId: request.id }
    ])
  })

  it("wakes nobody by itself, by an unmentioned text, or by a kind that agents do not listen to", () => {
    const mention = { tags: [["p", worker.identity.pubkey] as const], content: "@worker-1" }
    assert.deepStrictEqual(open(signedBy(worker.identity, { kind: EventKind.Message, ...mention })), [])
    assert.deepStrictEqual(open(signedBy(lead.identity, { kind: EventKind.Message, content: "@worker-1" })), [])
    for (const kind of [EventKind.Reaction, EventKind.MessageV2, EventKind.MessageEdit])
      assert.deepStrictEqual(open(signedBy(lead.identity, { kind, ...mention })), [])
    for (const kind of [EventKind.Message, EventKind.Reminder, EventKind.ApprovalRequested])
      assert.deepStrictEqual(open(signedBy(lead.identity, { kind, ...mention })), ["worker-1"])
  })

  it("arrives with the receipt of the agent it was meant for", () => {
    assert.deepStrictEqual(open(task, ["lead-1", delivered("f".repeat(64), task.id)]), [])
    assert.deepStrictEqual(open(task, ["worker-1", delivered(task.id)]), ["lead-1"])
  })

  it("arrives when the running turn took it, and not when the turn refused it", () => {
    assert.deepStrictEqual(open(task, ["lead-1", acked(task.id, true)]), [])
    assert.deepStrictEqual(open(task, ["lead-1", acked(task.id, false)]), ["lead-1"])
  })

  it("a receipt counts even if the log is ahead of the channel", () => {
    assert.deepStrictEqual(open(["lead-1", delivered(task.id)], task), [])
  })

  it("one event seen twice is one mention", () => {
    assert.deepStrictEqual(open(task, task), ["lead-1"])
  })

  it("what came during a turn is still on its way after it, where receipts are logged", () => {
    const first: ReadonlyArray<Step> = [task, ["lead-1", started], ["lead-1", complete], ["lead-1", delivered(task.id)]]
    const again = signedBy(handle.user.identity, { kind: EventKind.Message, content: "more", tags: task.tags })
    assert.deepStrictEqual(open(...first, ["lead-1", started], again, ["lead-1", complete]), ["lead-1"])
  })

  it("what was there when a turn began arrives with its end, however bad, receipts or not", () => {
    for (const stop of ["end_turn", "refused", "max_tokens", "max_turn_requests"] as const) {
      const turn: ReadonlyArray<Step> = [
        task,
        ["lead-1", started],
        ["lead-1", { _tag: "TurnEnded", label: LABEL, stop }]
      ]
      assert.deepStrictEqual(open(...turn), [])
      assert.deepStrictEqual(open(["lead-1", delivered(request.id)], ...turn), [])
    }
  })

  it("a cancelled or failed turn has delivered nothing", () => {
    const cancelled: AgentSignal = { _tag: "TurnEnded", label: LABEL, stop: "cancelled" }
    const failed: AgentSignal = { _tag: "TurnFailed", kind: "prompt-error", detail: "" }
    for (const end of [cancelled, failed])
      assert.deepStrictEqual(open(task, ["lead-1", started], ["lead-1", end]), ["lead-1"])
  })

  it("is lost, and not on its way, when the agent threw it away", () => {
    assert.deepStrictEqual(open(task, ["lead-1", { _tag: "DeadLettered", detail: "" }]), [])
  })

  it("builds that log neither starts nor receipts have read what was there when their turn ended", () => {
    assert.deepStrictEqual(open(task, ["lead-1", complete]), [])
  })

  it.prop(
    "a mention whose receipt was logged never comes back, in whatever order both were seen",
    {
      before: Schema.Array(Schema.Literals(["start", "end", "task"])),
      after: Schema.Array(Schema.Literals(["start", "end", "task"]))
    },
    ({ after, before }) => {
      const step = (name: "start" | "end" | "task"): Step =>
        name === "task" ? task : ["lead-1", name === "start" ? started : complete]
      assert.deepStrictEqual(open(...before.map(step), ["lead-1", delivered(task.id)], ...after.map(step)), [])
    }
  )
})
