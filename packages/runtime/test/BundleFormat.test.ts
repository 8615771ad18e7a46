/**
 * The bundle as tools read it that know its format from elsewhere: documents where they look for them, with every field by which
 * they know it.
 */
import {
  BUNDLE,
  ENDPOINTS,
  EXCEPTION,
  MANIFEST,
  RECEIPTS,
  RESULT,
  SUMMARY,
  TIMING
} from "@buzz-orchestra/runtime/BundleFiles"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem } from "effect"
import { line } from "./support/logLines.ts"
import { awaitEvent, LEAD, runToDone, say, startTrial, trialLayer } from "./support/trial.ts"

type Json = Readonly<Record<string, unknown>>

const USAGE = line("acp::usage", "goose usage update session_id=s input=1000 output=20 cached=0", { level: "DEBUG" })

/** Every field of version 1, by the document or the part of one that has it. */
const FIELDS = {
  summary: `bundle_version condition manifest_sha256 solo_roster trial_id channel_id roster totals accounting
    secret_scan files`,
  roster: "agent_id role endpoint system_prompt",
  totals: "input_tokens output_tokens cost_usd cost_usd_no_cache_discount cost_usd_including_handoff_bound",
  accounting: `reconciled note warnings estimated_cache_read_tokens assumes_cache_discount handoffs handoff_truncations
    handoff_cost_usd_upper_bound`,
  secret_scan: "clean findings review",
  receipt: `agent_id class_id role endpoint model_revision input_tokens output_tokens cost_usd sessions source
    cost_usd_no_cache_discount estimated_cache_read_tokens cache_read_rate cache_read_tokens_are_estimated
    reasoning_tokens_included_in_output handoffs handoff_truncations handoff_input_tokens_upper_bound
    handoff_output_tokens_upper_bound handoff_cost_usd_upper_bound turns cost_usd_including_handoff_bound`,
  manifest: "sha256 manifest",
  endpoint: "provider api_key_env env_keys",
  timing: `schema_version runtime_until_bundle_seconds pre_prompt_seconds agent_active_seconds
    usage_settle_seconds`,
  metadata: `manifest_sha256 condition buzz_channel_id run_id trial_id completion_message_id completion_message
    agent_runtime agent_hints_enabled task_seed buzz_evidence_exported stopped_without_done solo_roster
    container_trust_store agent_active_seconds usage_settle_seconds accounting_source accounting_reconciled
    accounting_note accounting_warnings accounting_cost_usd_no_cache_discount
    accounting_estimated_cache_read_tokens accounting_assumes_cache_discount
    accounting_cache_read_tokens_are_measured accounting_handoffs accounting_handoff_truncations
    accounting_handoff_cost_usd_upper_bound accounting_cost_usd_including_handoff_bound accounting_idle_agents
    accounting_unmeasured_agents per_agent_tokens`,
  agentTokens: `input output cost_usd cost_usd_no_cache_discount cache_read_rate handoffs
    handoff_cost_usd_upper_bound`
}

const hasAll = (part: keyof typeof FIELDS, value: unknown) =>
  assert.deepStrictEqual(
    FIELDS[part].split(/\s+/).filter((field) => !(field in (value as Json))),
    [],
    part
  )

const readJson = (directory: string, name: string) =>
  Effect.map(
    FileSystem.FileSystem.use((fs) => fs.readFileString(`${directory}/${name}`)),
    (text) => JSON.parse(text) as Json
  )

describe("a reader of the format", () => {
  it.effect("finds the bundle below Harbor's folder for agents, with every field that it knows", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { fiber, options } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* TestStack.use((stack) => stack.print("lead-1", USAGE))
      yield* say(LEAD, "DONE: it is there")
      yield* Fiber.join(fiber)
      const { directory } = options

      const summary = yield* readJson(directory, SUMMARY)
      hasAll("summary", summary)
      assert.strictEqual(summary["bundle_version"], "1")
      for (const entry of summary["roster"] as ReadonlyArray<Json>) {
        hasAll("roster", entry)
        assert.isTrue(yield* fs.exists(`${directory}/${BUNDLE}/${String(entry["system_prompt"])}`))
      }
      hasAll("totals", summary["totals"])
      hasAll("accounting", summary["accounting"])
      hasAll("secret_scan", summary["secret_scan"])
      assert.deepInclude(summary["secret_scan"] as Json, { clean: true, findings: [], review: [] })
      const files = summary["files"] as ReadonlyArray<string>
      assert.deepStrictEqual(files, files.toSorted())
      for (const file of files) assert.isTrue(yield* fs.exists(`${directory}/${BUNDLE}/${file}`), file)

      const receipts = (yield* fs.readFileString(`${directory}/${RECEIPTS}`)).trimEnd().split("\n")
      assert.strictEqual(receipts.length, 2)
      for (const receipt of receipts) hasAll("receipt", JSON.parse(receipt))
      hasAll("manifest", yield* readJson(directory, MANIFEST))
      for (const endpoint of Object.values(yield* readJson(directory, ENDPOINTS))) hasAll("endpoint", endpoint)
      hasAll("timing", yield* readJson(directory, TIMING))

      const { metadata } = (yield* readJson(directory, RESULT))["agent_result"] as { readonly metadata: Json }
      hasAll("metadata", metadata)
      hasAll("agentTokens", (metadata["per_agent_tokens"] as Json)["lead-1"])
      assert.deepInclude(metadata, { buzz_evidence_exported: true, condition: summary["condition"] })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("is told to look at what may be a key, and not at what the trial itself names", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const stack = yield* TestStack
      const said = yield* say(LEAD, `the digest is ${"0f".repeat(32)}`)
      yield* stack.print("lead-1", `seen ${said.id} by ${LEAD.pubkey}`)
      yield* stack.print("worker-1", `one\ntwo ${"0F".repeat(32)}`)
      yield* say(LEAD, "DONE: it is there")
      const { summary } = yield* Fiber.join(fiber)
      assert.isTrue(summary.secret_scan.clean)
      assert.includeDeepMembers(
        [...summary.secret_scan.review],
        [{ path: "agent/buzz/worker-1.stdout.log", line: 3, kind: "hex-64" }]
      )
      assert.notInclude(JSON.stringify(summary.secret_scan.review), "lead-1.stdout.log")
      assert.isFalse(yield* FileSystem.FileSystem.use((fs) => fs.exists(`${options.directory}/${EXCEPTION}`)))
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("finds the exception of a trial that had one, as Harbor names it", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { fiber, options } = yield* startTrial({ readinessTimeout: 0 })
      yield* Effect.flip(Fiber.join(fiber))
      const text = yield* fs.readFileString(`${options.directory}/${EXCEPTION}`)
      assert.match(text, /^ConfigurationOutOfBounds: prepare: .*\n$/)
      const { exception_info } = yield* readJson(options.directory, RESULT)
      assert.deepInclude(exception_info as Json, {
        exception_type: "ConfigurationOutOfBounds",
        exception_traceback: text.trimEnd()
      })
      // A trial in the same place that goes well has none.
      yield* runToDone({ ...options, readinessTimeout: 30 })
      assert.isFalse(yield* fs.exists(`${options.directory}/${EXCEPTION}`))
    }).pipe(Effect.provide(trialLayer()))
  )
})
