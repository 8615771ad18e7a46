/** Manifests as provisioning reads them. */
import { type AgentClass, ExperimentManifest } from "@buzz-orchestra/manifest/ExperimentManifest"
import { Schema } from "effect"

const SHA = "a".repeat(64)

const decode = Schema.decodeUnknownSync(ExperimentManifest)

/** A manifest with this roster. */
export const manifest = (...roster: ReadonlyArray<Partial<AgentClass>>): ExperimentManifest => {
  const decoded = decode({
    condition: "test",
    roster: roster.map((fields) => ({
      id: "worker",
      kind: "worker",
      role: "worker",
      count: 1,
      endpoint: "model",
      model_revision: "r1",
      prompt: { path: "p.md", sha256: SHA },
      ...fields,
      // Checked by the schema, and set afterwards: a role may be empty for whoever builds a manifest in memory.
      ...(fields.role === "" ? { role: "x" } : {})
    })),
    prices: {},
    trial_budget: { timeout_seconds: 60 }
  })
  const [first, ...rest] = decoded.roster.map((seat, index) => ({ ...seat, role: roster[index]?.role ?? seat.role }))
  return { ...decoded, roster: first === undefined ? decoded.roster : [first, ...rest] }
}

/** One class. */
export const agentClass = (fields: Partial<AgentClass>): AgentClass => manifest(fields).roster[0]
