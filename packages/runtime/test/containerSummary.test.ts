import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { ContainerFacts } from "../src/docker/ContainerFacts.ts"
import { containerSummary } from "../src/internal/containerSummary.ts"
import { ContainerSummary } from "../src/TrialSummary.ts"

const facts: ContainerFacts = {
  id: "3f2a",
  engine: { flavor: "docker", version: "20.10.24", address: "unix:///var/run/docker.sock" },
  image: { reference: "task:1", id: "sha256:aa" },
  applied: {
    limits: { cpus: 0.5, memoryMb: 700 },
    network: "none",
    init: false,
    user: "1000",
    readOnlyRoot: true,
    mounts: [{ source: "/cache", target: "/opt/buzz/bin", readOnly: true }],
    temporary: ["/tmp"]
  },
  timeLimitSeconds: 1080
}

describe("the summary of a container", () => {
  it("has the limits that its engine reports, and null where there is none", () => {
    const summary = containerSummary(facts)
    assert.deepStrictEqual(summary.limits, { cpus: 0.5, memory_mb: 700, storage_mb: null, pids: null })
    assert.deepStrictEqual(summary.mounts, [{ source: "/cache", target: "/opt/buzz/bin", read_only: true }])
    assert.deepInclude(summary, { network: "none", user: "1000", read_only_root: true, time_limit_seconds: 1080 })
  })

  it("survives the way through JSON, and has no time limit when the container was there before", () => {
    const { timeLimitSeconds: _, ...existing } = facts
    const summary = containerSummary(existing)
    assert.isNull(summary.time_limit_seconds)
    const text = JSON.stringify(summary)
    assert.deepStrictEqual(Schema.decodeUnknownSync(Schema.fromJsonString(ContainerSummary))(text), summary)
  })
})
