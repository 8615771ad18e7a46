/**
 * The trials of bench `trial`: a team whose lead says `DONE:` after a while, and a lone lead whose log grows meanwhile.
 */
import { Effect, FileSystem, Path, Redacted } from "effect"
import { conditionWith, PROMPT_TEXT } from "../packages/manifest/src/testing/TestManifest.ts"
import { EmbeddedRelay } from "../packages/relay/src/server/EmbeddedRelay.ts"
import { DEFAULT_LAYOUT } from "../packages/runtime/src/Layout.ts"
import type { TrialOptions } from "../packages/runtime/src/TrialOptions.ts"
import { Meter } from "./Meter.ts"
import { stackFiles } from "./ReferenceStack.ts"

/** One trial. */
export interface TrialSpec {
  readonly agents: 1 | 3
  /** From the lead's waking to its `DONE:`. */
  readonly workMillis: number
  /** What the lead's log grows by, evenly, before that. */
  readonly growth?: { readonly bytes: number; readonly seconds: number }
}

/** Where the scripted models look. */
const PLAYBOOK = "/tmp/bench/playbook.yaml"

/** Times that a growing log grows in a second. */
const GROWTHS = 5

const LINE = "0123456789abcdef".repeat(8)

const DONE = "buzz messages send --channel {channel} --mention {user} --content 'DONE: as asked'"

/** What the lead does; the others are never woken. JSON is YAML. */
const playbook = ({ growth, workMillis }: TrialSpec): string =>
  JSON.stringify({
    agents: {
      "lead-1": [
        {
          steps: [
            { wait_ms: Math.round(workMillis) },
            ...(growth === undefined ? [] : [{ shell: grow(growth) }]),
            { shell: DONE }
          ]
        }
      ]
    }
  })

const grow = ({ bytes, seconds }: NonNullable<TrialSpec["growth"]>): string => {
  const times = seconds * GROWTHS
  const log = `${DEFAULT_LAYOUT.logs}/lead-1.stderr.log`
  return (
    `i=0; while [ $i -lt ${times} ]; do yes ${LINE} | head -c ${Math.ceil(bytes / times)} >>${log}; ` +
    `sleep ${1 / GROWTHS}; i=$((i+1)); done`
  )
}

/** What both harnesses are run with, in the environment of the meter, where the playbook then is. The scope owns the files. */
export const trialOptions = Effect.fnUntraced(function* (spec: TrialSpec, trialId: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { url } = yield* EmbeddedRelay
  const { uncounted } = yield* Meter
  yield* uncounted.upload({ content: new TextEncoder().encode(playbook(spec)) }, PLAYBOOK)
  const root = yield* fs.makeTempDirectoryScoped({ prefix: "bench-trial-" })
  yield* fs.writeFileString(path.join(root, "prompt.md"), PROMPT_TEXT)
  const options: TrialOptions = {
    condition: conditionWith({
      roster: [{ id: "lead" }, ...(spec.agents === 1 ? [] : [{ id: "worker", count: spec.agents - 1 }])],
      trial_budget: { timeout_seconds: 120 }
    }),
    artifactRoot: root,
    endpoints: {
      "test-model": { provider: "scripted", api_key_env: "SCRIPTED_API_KEY", env: { SCRIPTED_PLAYBOOK: PLAYBOOK } }
    },
    // An agent wants one, although a scripted model asks nobody.
    apiKeys: { "test-model": Redacted.make("scripted-models-need-no-key") },
    instruction: "begin",
    runId: "bench",
    trialId,
    relayUrl: url,
    stack: yield* stackFiles,
    directory: path.join(root, "trial")
  }
  return options
})
