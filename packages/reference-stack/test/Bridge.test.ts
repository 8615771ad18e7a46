import * as AcpConfig from "@buzz-orchestra/reference-stack/buzz-acp/AcpConfig"
import * as AgentPool from "@buzz-orchestra/reference-stack/buzz-acp/AgentPool"
import { type AgentProcess, AgentRequestFailed } from "@buzz-orchestra/reference-stack/buzz-acp/AgentProcess"
import * as Bridge from "@buzz-orchestra/reference-stack/buzz-acp/Bridge"
import type { StopReason } from "@buzz-orchestra/reference-stack/buzz-acp/TurnOutcome"
import * as LogFilter from "@buzz-orchestra/reference-stack/LogFilter"
import { TracingLog } from "@buzz-orchestra/reference-stack/TracingLog"
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import { assert, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Queue, Result } from "effect"
import { TestClock } from "effect/testing"

const SELF = "5".repeat(64)
const CHANNEL = "11111111-1111-4111-8111-111111111111"

const message = (id: string): NostrEvent => ({
  id: id.repeat(64),
  pubkey: "7".repeat(64),
  created_at: 0,
  kind: 9,
  tags: [
    ["h", CHANNEL],
    ["p", SELF]
  ],
  content: `message ${id}`,
  sig: ""
})

/** What an agent process does with a prompt. It is cancelled by `cancel`, when it listens to that. */
interface Prompt {
  readonly text: string
  readonly die: Effect.Effect<never, AgentRequestFailed>
  /** Writes something now. */
  readonly speak: Effect.Effect<void>
  /** Ends as `cancelled` when the session is cancelled. */
  readonly untilCancelled: Effect.Effect<StopReason>
}
type Play = (prompt: Prompt) => Effect.Effect<StopReason, AgentRequestFailed>

/** The loop over agents that play, one function for each process that is started. */
const bridge = Effect.fnUntraced(function* (env: Record<string, string>, ...lives: ReadonlyArray<Play>) {
  const config = Result.getOrThrow(
    AcpConfig.parse({ BUZZ_PRIVATE_KEY: "k", BUZZ_ACP_RESPOND_TO: "anyone", BUZZ_ACP_NO_TYPING: "true", ...env })
  )
  const lines: Array<string> = []
  const prompts: Array<{ readonly life: number; readonly text: string }> = []
  const killed: Array<number> = []
  let born = 0
  const start = () =>
    Effect.gen(function* () {
      const life = born++
      yield* Effect.addFinalizer(() => Effect.sync(() => void killed.push(life)))
      const dead = yield* Deferred.make<void>()
      let lastOutput = yield* Clock.currentTimeMillis
      let cancelled = yield* Deferred.make<StopReason>()
      const process: AgentProcess = {
        newSession: Effect.succeed(`ses_${life}`),
        prompt: (_, text) =>
          Effect.suspend(() => {
            prompts.push({ life, text })
            return (lives[life] ?? (() => Effect.never))({
              text,
              die: Effect.andThen(
                Deferred.succeed(dead, undefined),
                Effect.fail(new AgentRequestFailed({ kind: "exited", detail: "" }))
              ),
              speak: Effect.map(Clock.currentTimeMillis, (now) => void (lastOutput = now)),
              untilCancelled: Deferred.await(cancelled)
            })
          }),
        cancel: () => Deferred.succeed(cancelled, "cancelled"),
        exited: Deferred.await(dead),
        idleMillis: Effect.map(Clock.currentTimeMillis, (now) => now - lastOutput)
      }
      return process
    })
  const inputs = yield* Queue.unbounded<Bridge.Input>()
  const log = TracingLog.layerWith({
    filter: LogFilter.parse("info", "info"),
    ansi: false,
    write: (line) => void lines.push(line.replace(/^\S+ +/, "").trim())
  })
  yield* Effect.gen(function* () {
    const onChange = Effect.asVoid(Queue.offer(inputs, { _tag: "AgentsChanged" }))
    const pool = yield* AgentPool.make({ count: 1, start, onChange })
    const none = () => Effect.void
    yield* Effect.forkScoped(
      Bridge.run({
        config,
        prompts: { base: undefined, system: undefined },
        directory: {
          memberships: Effect.succeed([]),
          channel: (id) => Effect.succeed({ id, name: "test", type: "private" }),
          names: () => Effect.succeed(new Map()),
          transcript: () => Effect.succeed([]),
          ownerOf: () => Effect.undefined
        },
        presence: { react: none, unreact: none, typing: none, set: none, keepOnline: Effect.void },
        self: SELF,
        owner: undefined,
        inputs,
        pool,
        subscriptions: { add: none, remove: none, has: () => true, memberships: none }
      }),
      { startImmediately: true }
    )
  }).pipe(Effect.provide(log))
  const say = (id: string) =>
    Effect.andThen(
      Queue.offer(inputs, { _tag: "Event", channel: CHANNEL, event: message(id) }),
      // Each adjustment lets the fibers run that wait for each other.
      Effect.repeat(TestClock.adjust("1 millis"), { times: 3 })
    )
  return { lines, prompts, killed, say }
})

const answers: Play = () => Effect.succeed("end_turn")

it.effect("runs a batch again in a new agent process when the old one dies, together with what came meanwhile", () =>
  Effect.gen(function* () {
    const { killed, lines, prompts, say } = yield* bridge({}, ({ die }) => die, answers)
    yield* say("a")
    assert.deepStrictEqual(lines.slice(0, 5), [
      `INFO pool::prompt: turn starting for channel ${CHANNEL}`,
      "INFO acp::session: session created: ses_0",
      `INFO pool::session: created session ses_0 for channel ${CHANNEL}`,
      "ERROR pool::prompt: agent 0 exited during prompt",
      'WARN buzz_acp: agent_returned — respawning agent=0 outcome="exited"'
    ])
    assert.match(
      lines[5] ?? "",
      /^WARN buzz_acp::queue: requeueing failed batch with backoff .* retry=1 delay_secs=[456]/
    )
    yield* say("b")
    yield* TestClock.adjust("3900 millis")
    // The new process has been there for a while; the pause is at least four seconds.
    assert.deepStrictEqual([prompts.length, killed], [1, [0]])
    yield* TestClock.adjust("2200 millis")
    assert.deepStrictEqual(
      prompts.map(({ life }) => life),
      [0, 1]
    )
    assert.include(prompts[1]?.text, "message a")
    assert.include(prompts[1]?.text, "message b")
    assert.include(
      lines,
      `INFO pool::prompt: turn delivered Buzz events for channel ${CHANNEL}: ${"a".repeat(64)},${"b".repeat(64)}`
    )
  })
)

it.effect("tries again what the model failed at, in the process that is there", () =>
  Effect.gen(function* () {
    let isOverloaded = true
    const { killed, lines, prompts, say } = yield* bridge({}, () =>
      isOverloaded
        ? Effect.fail(new AgentRequestFailed({ kind: "error", detail: "llm: overloaded" }))
        : Effect.succeed("end_turn")
    )
    yield* say("a")
    assert.strictEqual(lines[3], "ERROR pool::prompt: session_prompt error: Agent reported error: llm: overloaded")
    assert.include(lines[4], "WARN buzz_acp: agent_returned (application error — pipe intact) agent=0")
    assert.include(lines[5], "WARN buzz_acp::queue: requeueing failed batch")
    isOverloaded = false
    yield* TestClock.adjust("6 seconds")
    assert.deepStrictEqual([prompts.length, killed], [2, []])
    assert.include(lines, `INFO pool::prompt: turn delivered Buzz events for channel ${CHANNEL}: ${"a".repeat(64)}`)
  })
)

it.effect("cancels an agent that falls silent, replaces it whether it answers or not, and tries again", () =>
  Effect.gen(function* () {
    const { killed, lines, prompts, say } = yield* bridge(
      { BUZZ_ACP_IDLE_TIMEOUT: "10", BUZZ_ACP_MAX_TURN_DURATION: "100" },
      ({ untilCancelled }) => untilCancelled,
      () => Effect.never,
      answers
    )
    yield* say("a")
    yield* TestClock.adjust("9990 millis")
    assert.notInclude(lines.join("\n"), "idle timeout")
    yield* TestClock.adjust("10 millis")
    assert.deepStrictEqual(lines.slice(3, 6), [
      "WARN pool::prompt: idle timeout (10s) — cancelling session ses_0",
      `WARN pool::prompt: turn cancelled for channel ${CHANNEL}`,
      'WARN buzz_acp: agent_returned — respawning agent=0 outcome="timeout"'
    ])
    assert.deepStrictEqual([prompts.length, killed], [1, [0]])
    // The second one does not answer its cancel: it has half a minute.
    yield* TestClock.adjust("6 seconds")
    assert.strictEqual(prompts.length, 2)
    yield* TestClock.adjust("37 seconds")
    assert.deepStrictEqual(killed, [0])
    yield* TestClock.adjust("3 seconds")
    assert.deepStrictEqual(killed, [0, 1])
    assert.strictEqual(lines.filter((line) => line.includes("turn cancelled")).length, 1)
    yield* TestClock.adjust("12 seconds")
    assert.include(lines, `INFO pool::prompt: turn delivered Buzz events for channel ${CHANNEL}: ${"a".repeat(64)}`)
  })
)

it.effect("does not take an agent for silent that nobody asked anything", () =>
  Effect.gen(function* () {
    const { killed, lines, say } = yield* bridge(
      { BUZZ_ACP_IDLE_TIMEOUT: "10", BUZZ_ACP_MAX_TURN_DURATION: "100" },
      () => Effect.delay(Effect.succeed("end_turn"), "9 seconds")
    )
    yield* TestClock.adjust("1 hour")
    yield* say("a")
    yield* TestClock.adjust("9 seconds")
    assert.deepStrictEqual(killed, [])
    assert.include(lines, `INFO pool::prompt: turn delivered Buzz events for channel ${CHANNEL}: ${"a".repeat(64)}`)
  })
)

it.effect("cuts off a turn that never ends although the agent talks, and replaces the agent without asking it", () =>
  Effect.gen(function* () {
    const { killed, lines, say } = yield* bridge(
      { BUZZ_ACP_IDLE_TIMEOUT: "3", BUZZ_ACP_MAX_TURN_DURATION: "20" },
      ({ speak }) => Effect.forever(Effect.andThen(Effect.sleep("2 seconds"), speak))
    )
    yield* say("a")
    yield* TestClock.adjust("19990 millis")
    assert.deepStrictEqual(killed, [])
    yield* TestClock.adjust("10 millis")
    assert.deepStrictEqual(killed, [0])
    assert.include(lines.join("\n"), "ERROR pool::prompt: hard timeout (20s cap)")
    assert.notInclude(lines.join("\n"), "idle timeout")
    assert.notInclude(lines.join("\n"), "turn cancelled")
  })
)
