/**
 * What an agent of the tests is launched from.
 */
import type { AgentClass } from "@buzz-orchestra/manifest/ExperimentManifest"
import * as Manifest from "@buzz-orchestra/manifest/ExperimentManifest"
import { testTrialHandle } from "@buzz-orchestra/relay/testing/TestTrialHandle"
import { DEFAULT_LAYOUT } from "@buzz-orchestra/runtime/Layout"
import { launchEnvironment, type LaunchEnvironmentInput } from "@buzz-orchestra/runtime/LaunchEnvironment"
import { Redacted, Result, Schema } from "effect"

/** Fields of a class as a manifest spells them. */
export type ClassFields = Partial<(typeof Manifest.AgentClass)["Encoded"]>

/** A class with the defaults that reading a manifest fills in. */
export const agentClass = (fields: ClassFields = {}): AgentClass =>
  Schema.decodeSync(Manifest.AgentClass)({
    id: "lead",
    kind: "orchestrator",
    role: "lead",
    count: 1,
    endpoint: "model",
    model_revision: "r1",
    prompt: { path: "lead.md", sha256: "a".repeat(64) },
    ...fields
  })

/** The key of the tests' provider. */
export const API_KEY = "provider-key-1"

const handle = testTrialHandle({
  agents: [{ agentId: "lead-1", kind: "orchestrator", apiKey: Redacted.make(API_KEY) }, { agentId: "worker-1" }]
})

/** The lead of the tests' trial, launched for a trial of 12,000 seconds in the study dialect. */
export const launchInput = (
  fields: Partial<Omit<LaunchEnvironmentInput, "agentClass">> & { readonly class?: ClassFields } = {}
): LaunchEnvironmentInput => {
  const { class: classFields, ...rest } = fields
  const [credential] = handle.credentials
  if (credential === undefined) throw new Error("the trial of the tests has a lead")
  return {
    dialect: "study",
    agentClass: agentClass(classFields),
    credential,
    handle,
    endpoints: { model: { provider: "anthropic", api_key_env: "ANTHROPIC_API_KEY" } },
    layout: DEFAULT_LAYOUT,
    facts: { homeDirectory: "/home/agent" },
    trialTimeoutSeconds: 12_000,
    defaultMaxRounds: 0,
    promptPath: "/opt/buzz/prompts/lead-1.system-prompt.md",
    operatorRustLog: undefined,
    inheritedNoProxy: undefined,
    ...rest
  }
}

/** The variables, secrets in the clear. */
export const variables = (fields: Parameters<typeof launchInput>[0] = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(Result.getOrThrow(launchEnvironment(launchInput(fields)))).map(([name, value]) => [
      name,
      typeof value === "string" ? value : Redacted.value(value)
    ])
  )
