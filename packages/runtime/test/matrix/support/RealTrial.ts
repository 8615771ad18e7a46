/**
 * A trial with real processes whose agents behave as badly as the case asks: its layers, its options, and what must be true
 * when it is over.
 */
import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import * as AgentSupervisorLive from "@buzz-orchestra/runtime/AgentSupervisorLive"
import { fromDirectory } from "@buzz-orchestra/runtime/StackFiles"
import * as StackInstallerLive from "@buzz-orchestra/runtime/StackInstallerLive"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import * as TrialLive from "@buzz-orchestra/runtime/TrialLive"
import { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import * as TrialRuntimeLive from "@buzz-orchestra/runtime/TrialRuntimeLive"
import { Effect, FileSystem, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { realTrialOptions, realWorldLayer } from "../../support/realTrial.ts"
import * as Cases from "./Cases.ts"
import type { Manner } from "./Manners.ts"

const STACK = fileURLToPath(new URL("../stack", import.meta.url))

/** A program that takes a number of seconds, has no file of its own beside it, and is no script. */
const SLEEP = ["/usr/bin/sleep", "/bin/sleep"].find((path) => existsSync(path)) ?? "/usr/bin/sleep"

/** A variable that the processes of one sandbox have in their environment and no others. */
export const makeMarker = (): string => `MATRIX_CASE=${randomUUID()}`

/** What an agent that floods its log says: much more than is read of it at a time, whether tests are to be quick or not. */
const FLOOD_BYTES = Cases.QUICK ? "32000000" : "100000000"

/** The world of one trial, its sandbox marked. */
export const markedWorld = (marker: string) => {
  const [name = "", value = ""] = marker.split("=")
  return realWorldLayer({ env: { [name]: value, FLOOD_BYTES } })
}

/** `Trial` over the world of the case and the events of the caller. */
export const trialOver = <E, R>(events: Layer.Layer<TrialEvents, E, R>) =>
  TrialLive.layer.pipe(
    Layer.provide(TrialRuntimeLive.layer),
    Layer.provide([AgentSupervisorLive.layer, StackInstallerLive.layer]),
    Layer.provideMerge(events)
  )

/** One agent for each list of manners, the orchestrator first. The scope removes the trial directory. */
export const mannerOptions = Effect.fnUntraced(function* (
  team: ReadonlyArray<ReadonlyArray<Manner>>,
  { timeoutSeconds = 60, ...fields }: Partial<TrialOptions> & { readonly timeoutSeconds?: number } = {}
) {
  const fs = yield* FileSystem.FileSystem
  const stack = yield* fromDirectory(STACK)
  const manners = yield* fs.makeTempDirectoryScoped({ prefix: "buzz-manners-" })
  const names = team.map((_, index) => (index === 0 ? "lead-1" : `worker-${index}`))
  for (const [index, name] of names.entries())
    yield* fs.writeFileString(`${manners}/${name}`, (team[index] ?? []).join(" "))
  const workers = team.length - 1
  return yield* realTrialOptions({
    condition: conditionWith({
      roster: [{ id: "lead" }, ...(workers > 0 ? [{ id: "worker", count: workers }] : [])],
      trial_budget: { timeout_seconds: timeoutSeconds }
    }),
    stack: { ...stack, programs: { ...stack.programs, worker: yield* fs.realPath(SLEEP) } },
    uploads: [{ source: manners, target: "/app/manners" }],
    ...fields
  })
})
