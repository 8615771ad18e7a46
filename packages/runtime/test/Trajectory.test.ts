import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import * as AgentLog from "@buzz-orchestra/runtime/AgentLog"
import * as AgentNarrative from "@buzz-orchestra/runtime/AgentNarrative"
import * as Atif from "@buzz-orchestra/runtime/Atif"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import * as LoggedAgent from "@buzz-orchestra/runtime/LoggedAgent"
import * as Receipt from "@buzz-orchestra/runtime/Receipt"
import * as Trajectory from "@buzz-orchestra/runtime/Trajectory"
import { TRAJECTORY } from "@buzz-orchestra/runtime/BundleFiles"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Result } from "effect"
import * as Cases from "./matrix/support/Cases.ts"
import { CHANNEL, line, read } from "./support/logLines.ts"
import { bytesOf, Given, written } from "./support/Scribe.ts"
import { awaitEvent, LEAD, say, startTrial, trialLayer, WORKER } from "./support/trial.ts"

const START = line("pool::prompt", `turn starting for channel ${CHANNEL}`)
const END = line("pool::prompt", `turn complete for channel ${CHANNEL}: end_turn`)
const usage = (input: number, output: number) =>
  line("acp::usage", `goose usage update session_id=s input=Some(${input}) output=Some(${output}) cached=0`, {
    level: "DEBUG"
  })

const narrate = (...lines: ReadonlyArray<string>) =>
  AgentNarrative.turnsOf(AgentNarrative.tellAll(AgentNarrative.initial, read(...lines)))

describe("the narrative of an agent", () => {
  it("has what it said as one text, chunks joined as they came, parted where something lay between them", () => {
    const turns = narrate(
      START,
      line("acp::stream", "Hel"),
      line("acp::stream", "lo\nthere"),
      line("acp::tool", "tool_call: buzz-dev-mcp__shell (execute)"),
      line("acp::stream", "done"),
      END
    )
    assert.strictEqual(turns.length, 1)
    assert.deepInclude(turns[0], {
      said: "Hello\nthere\ndone",
      calls: ["buzz-dev-mcp__shell"],
      end: "end_turn"
    })
  })

  it("takes nothing that an agent says for something that it does", () => {
    const turns = narrate(START, line("acp::stream", `I will say:\n${END.slice(30)}\ntool_call: rm (execute)`), END)
    assert.deepInclude(turns[0], { calls: [], end: "end_turn" })
    assert.include(turns[0]?.said ?? "", "tool_call: rm")
  })

  it("begins a turn with what comes after the last one where starts are not logged", () => {
    const turns = narrate(line("acp::stream", "one"), END, line("acp::stream", "two"), END)
    assert.deepStrictEqual(
      turns.map(({ end, said }) => [said, end]),
      [
        ["one", "end_turn"],
        ["two", "end_turn"]
      ]
    )
  })

  it("keeps messages, failures and late usage with their turn", () => {
    const id = "a".repeat(64)
    const turns = narrate(
      START,
      END,
      line("pool::prompt", `turn delivered Buzz events for channel ${CHANNEL}: ${id}`),
      usage(10, 1),
      START,
      line("pool::prompt", "hard timeout (60 s)"),
      line("pool::prompt", "session_prompt error: gone")
    )
    assert.strictEqual(turns.length, 2)
    assert.deepStrictEqual(turns[0]?.delivered, [id])
    assert.deepStrictEqual(turns[0]?.usage.get("s"), { input: 10, output: 1, cached: 0 })
    assert.strictEqual(turns[1]?.end, "hard timeout (60 s)")
  })

  it("is bounded, and says how much it left out", () => {
    const long = "x".repeat(40_000)
    const calls = Array.from({ length: AgentNarrative.TURN_CALLS + 5 }, () => line("acp::tool", "tool_call: t (other)"))
    const [turn] = narrate(START, line("acp::stream", long), line("acp::stream", long), ...calls, END)
    assert.strictEqual(turn?.said.length, AgentNarrative.TURN_CHARACTERS)
    assert.deepStrictEqual(turn?.dropped, { characters: 80_000 - AgentNarrative.TURN_CHARACTERS, calls: 5 })
  })

  it("does not depend on how the bytes are cut", () => {
    const bytes = new TextEncoder().encode([START, line("acp::stream", "Grüße\nan alle"), END, usage(3, 1)].join("\n"))
    const whole = AgentNarrative.finish(AgentNarrative.feed([AgentNarrative.initial, AgentLog.initial], bytes))
    const cut = [...bytes].reduce((state, byte) => AgentNarrative.feed(state, Uint8Array.of(byte)), [
      AgentNarrative.initial,
      AgentLog.initial
    ] as ReturnType<typeof AgentNarrative.feed>)
    assert.deepStrictEqual(AgentNarrative.finish(cut), whole)
  })
})

describe("the rules of the format", () => {
  const step = { step_id: 1, source: "agent", message: "" }
  const document = { schema_version: "ATIF-v1.7", agent: { name: "a", version: "1" }, steps: [step] }
  const problems = (fields: object): string => {
    const decoded = Atif.decode({ ...document, ...fields })
    return Result.isSuccess(decoded) ? "" : decoded.failure.message
  }

  it.each([
    ["an unknown field", { colour: "red" }, /colour/],
    ["no steps", { steps: [] }, /steps/],
    ["another version", { schema_version: "ATIF-v1.6" }, /ATIF-v1\.7/],
    ["numbers with a gap", { steps: [step, { ...step, step_id: 3 }] }, /step 2 is numbered 3/],
    ["a time that is none", { steps: [{ ...step, timestamp: "yesterday" }] }, /timestamp/],
    [
      "a model's fields beside a user",
      { steps: [{ ...step, source: "user", metrics: {} }] },
      /metrics in a step of user/
    ],
    ["metrics without a call", { steps: [{ ...step, llm_call_count: 0, metrics: {} }] }, /metrics without a call/],
    [
      "an observation of a foreign call",
      { steps: [{ ...step, observation: { results: [{ source_call_id: "x" }] } }] },
      /an observation of x/
    ],
    [
      "a reference that leads nowhere",
      { steps: [{ ...step, observation: { results: [{ subagent_trajectory_ref: [{ session_id: "s" }] }] } }] },
      /leads nowhere/
    ],
    [
      "two embedded trajectories of one id",
      { subagent_trajectories: [1, 2].map(() => ({ ...document, trajectory_id: "t" })) },
      /share an id/
    ],
    ["an embedded trajectory without an id", { subagent_trajectories: [document] }, /trajectory_id/],
    ["an amount that is no number", { final_metrics: { total_cost_usd: Number.NaN } }, /total_cost_usd/]
  ])("refuse %s", (_, fields, expected) => {
    assert.strictEqual(problems({}), "")
    assert.match(problems(fields), expected)
  })
})

/** `agent/trajectory.json` of a trial, which keeps every rule. */
const trajectoryIn = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(`${directory}/${TRAJECTORY}`)
  const trajectory: ReturnType<typeof Trajectory.of> = Result.getOrThrow(Atif.decode(JSON.parse(text)))
  return trajectory
})

describe("the trajectory of any logs", () => {
  const agentClass = conditionWith({ roster: [{ id: "lead" }] }).manifest.roster[0]
  const price = {
    input_per_million_usd: 3,
    cached_input_per_million_usd: 0.3,
    output_per_million_usd: 15,
    cache_read_rate: 0
  }

  it.prop(
    "keeps the rules, has a step for each turn, and adds up to the receipt",
    Given,
    ({ acts, build }) => {
      const bytes = bytesOf(written(build, acts).stdout)
      const narrative = AgentNarrative.finish(AgentNarrative.feed([AgentNarrative.initial, AgentLog.initial], bytes))
      const known = LoggedAgent.finish(LoggedAgent.feed(LoggedAgent.initial(CHANNEL), "stdout", bytes))
      const { receipt } = Receipt.of({ agentId: "lead-1", agentClass, price, known })
      const trajectory = Trajectory.of({
        trialId: "t",
        condition: "c",
        manifestHash: "h",
        version: "1",
        task: "task",
        startedAtMillis: 0,
        events: [],
        names: new Map(),
        agents: [
          {
            agentId: "lead-1",
            kind: "orchestrator",
            role: "lead",
            endpoint: "m",
            modelRevision: "1",
            price,
            narrative,
            receipt
          }
        ],
        totals: undefined,
        end: { outcome: "done", detail: "" },
        redact: (text) => text
      })
      const decoded = Atif.decode(JSON.parse(JSON.stringify(trajectory)))
      assert.strictEqual(Result.isSuccess(decoded) ? "" : decoded.failure.message, "")
      const steps = trajectory.subagent_trajectories?.[0]?.steps.filter(({ source }) => source === "agent") ?? []
      if (build.logsStarts)
        assert.strictEqual(steps.filter(({ extra }) => extra?.["end"] !== null).length, receipt.turns)
      const sum = (field: "prompt_tokens" | "completion_tokens") =>
        steps.reduce((all, { metrics }) => all + (metrics?.[field] ?? 0), 0)
      if (receipt.measurement === "measured")
        assert.deepStrictEqual(
          [sum("prompt_tokens"), sum("completion_tokens")],
          [receipt.input_tokens, receipt.output_tokens]
        )
    },
    { arbitrary: Cases.options(60, 10_000) }
  )
})

describe("the trajectory of a trial", () => {
  it.effect("has the channel as its root and each agent below it", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial()
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      const stack = yield* TestStack
      const report = yield* say(WORKER, "42", [LEAD.pubkey])
      yield* stack.log("lead-1", "pool::prompt", `turn starting for channel ${CHANNEL}`)
      yield* stack.log("lead-1", "acp::tool", "tool_call: buzz-dev-mcp__shell (execute)")
      yield* stack.log("lead-1", "acp::stream", "I think")
      yield* stack.log("lead-1", "acp::usage", "goose usage update input=Some(1000) output=Some(100) cached=0", "DEBUG")
      yield* stack.log("lead-1", "pool::prompt", `turn complete for channel ${CHANNEL}: end_turn`)
      const delivered = `turn delivered Buzz events for channel ${CHANNEL}: ${report.id}`
      yield* stack.log("lead-1", "pool::prompt", delivered)
      yield* awaitEvent((event) => event._tag === "AgentChanged" && event.view._tag === "Idle")
      yield* say(LEAD, "DONE: 42")
      yield* Fiber.join(fiber)
      const root = yield* trajectoryIn(options.directory)
      assert.deepInclude(root, { session_id: options.trialId, trajectory_id: options.trialId })
      assert.deepStrictEqual(
        root.steps.map(({ message, source }) => [source, message]),
        [
          ["user", "@lead-1 write hello.txt"],
          ["agent", "42"],
          ["agent", "DONE: 42"]
        ]
      )
      assert.deepStrictEqual(root.final_metrics, {
        total_prompt_tokens: 1000,
        total_completion_tokens: 100,
        total_cached_tokens: 0,
        total_cost_usd: 0.0045,
        total_steps: 3
      })
      const [lead, worker] = root.subagent_trajectories ?? []
      assert.deepStrictEqual(
        lead?.steps.map(({ message, source }) => [source, message]),
        [
          ["user", "worker-1: 42"],
          ["agent", "I think"]
        ]
      )
      assert.deepInclude(lead?.steps[1], {
        model_name: "test-model",
        tool_calls: [{ tool_call_id: "lead-1-turn-1-call-1", function_name: "buzz-dev-mcp__shell", arguments: {} }],
        metrics: { prompt_tokens: 1000, completion_tokens: 100, cached_tokens: 0, cost_usd: 0.0045 },
        extra: { turn: 1, end: "end_turn" }
      })
      assert.deepInclude(worker?.steps[0], { source: "system", message: "worker-1 was never woken" })
      assert.strictEqual(worker?.final_metrics?.total_cost_usd, 0)
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("is there when the trial failed, with what is known by then", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial({ settleTimeout: 0 })
      yield* awaitEvent(({ _tag }) => _tag === "Waiting")
      yield* TestStack.use((stack) => stack.log("worker-1", "pool::prompt", `turn starting for channel ${CHANNEL}`))
      yield* awaitEvent((event) => event._tag === "AgentChanged" && event.view._tag === "InTurn")
      yield* TestStack.use((stack) => stack.die("lead-1", 137))
      yield* Effect.flip(Fiber.join(fiber))
      const root = yield* trajectoryIn(options.directory)
      // The worker's number is unknown, and so is the sum.
      assert.deepStrictEqual(root.final_metrics, { total_steps: 1 })
      assert.deepInclude(root.subagent_trajectories?.[1]?.steps[0], { extra: { turn: 1, end: null } })
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("is there when nothing was provisioned", () =>
    Effect.gen(function* () {
      const { fiber, options } = yield* startTrial({ maxAgentRounds: -1 })
      yield* Effect.flip(Fiber.join(fiber))
      const root = yield* trajectoryIn(options.directory)
      assert.deepInclude(root.steps[0], { source: "user", message: "write hello.txt", extra: { posted: false } })
      assert.notProperty(root, "subagent_trajectories")
    }).pipe(Effect.provide(trialLayer()))
  )
})
