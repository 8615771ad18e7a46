/**
 * The team that writes greetings: what all of its trials have in common.
 */
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import * as ReferenceStack from "@buzz-orchestra/reference-stack/ReferenceStack"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import * as StackFiles from "@buzz-orchestra/runtime/StackFiles"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import { Effect, Redacted } from "effect"
import { fileURLToPath } from "node:url"

/** A trial but for its task, its name and its directory. */
export type Team = Omit<TrialOptions, "instruction" | "trialId" | "directory">

const file = (name: string) => fileURLToPath(new URL(`../team/${name}`, import.meta.url))

const PLAYBOOK = "/tmp/greeting/playbook.yaml"

const ENDPOINTS = {
  "scripted/greeting": {
    provider: "scripted",
    api_key_env: "SCRIPTED_API_KEY",
    env: { SCRIPTED_PLAYBOOK: PLAYBOOK }
  }
}

/** Reads the manifest and finds the stack: the programs in `stackDirectory`, or the ones that play a script. */
export const load = Effect.fn("Team.load")(function* (stackDirectory?: string) {
  const manifests = yield* ManifestService
  const relay = yield* EmbeddedRelay
  const condition = yield* manifests.load(file("manifest.yaml"))
  const team: Team = {
    condition,
    artifactRoot: file(""),
    endpoints: yield* manifests.loadEndpoints(ENDPOINTS, condition.manifest),
    apiKeys: { "scripted/greeting": Redacted.make("scripted-models-need-no-key") },
    uploads: [{ source: file("playbook.yaml"), target: PLAYBOOK }],
    runId: "greetings",
    relayUrl: relay.url,
    stack: yield* StackFiles.fromDirectory(stackDirectory ?? (yield* ReferenceStack.directory))
  }
  return team
})
