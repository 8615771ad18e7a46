import { assert, describe, it } from "@effect/vitest"
import type { AgentClass } from "@buzz-orchestra/manifest/ExperimentManifest"
import * as TrialRoster from "../src/TrialRoster.ts"
import { agentClass } from "./fixtures.ts"

const names = (...roster: ReadonlyArray<AgentClass>) => TrialRoster.seats(roster).map(({ agentId }) => agentId)

describe("TrialRoster", () => {
  it("lists the orchestrator first and the others as the manifest does, counting from 1", () => {
    const roster = [
      agentClass({ id: "worker-b", count: 2 }),
      agentClass({ id: "worker-a" }),
      agentClass({ id: "lead", kind: "orchestrator" })
    ]
    assert.deepStrictEqual(names(...roster), ["lead-1", "worker-b-1", "worker-b-2", "worker-a-1"])
  })

  it("lets the kind stand in for an empty role", () => {
    const roster = [agentClass({ id: "a", role: "" }), agentClass({ id: "b", role: "reviewer" })]
    assert.deepStrictEqual(
      TrialRoster.seats(roster).map(({ role }) => role),
      ["worker", "reviewer"]
    )
  })

  it("names the channel after the task, or after trial and manifest", () => {
    const trial = { runId: "run", trialId: "0123456789", manifestHash: "fedcba9876543210", label: undefined }
    assert.strictEqual(TrialRoster.channelName(trial), "trial-01234567-fedcba98")
    assert.strictEqual(TrialRoster.channelName({ ...trial, label: "hello" }), "hello-01234567")
    assert.strictEqual(TrialRoster.channelDescription(trial), "run=run trial=0123456789 manifest=fedcba9876543210")
  })
})
