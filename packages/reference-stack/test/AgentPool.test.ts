import * as AgentPool from "@buzz-orchestra/reference-stack/buzz-acp/AgentPool"
import { type AgentProcess, AgentStartFailed } from "@buzz-orchestra/reference-stack/buzz-acp/AgentProcess"
import * as LogFilter from "@buzz-orchestra/reference-stack/LogFilter"
import { TracingLog } from "@buzz-orchestra/reference-stack/TracingLog"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Ref } from "effect"
import { TestClock } from "effect/testing"

/** A pool of agents that only live and die, as the test says. */
const testPool = Effect.fnUntraced(function* (options: { readonly count: number; readonly failures?: number }) {
  const lives: Array<{ readonly index: number; readonly die: Effect.Effect<unknown>; isKilled: boolean }> = []
  const changes = yield* Ref.make(0)
  let failures = options.failures ?? 0
  const start = (index: number) =>
    Effect.gen(function* () {
      if (failures-- > 0) return yield* new AgentStartFailed({ detail: "agent failed to spawn: no" })
      const dead = yield* Deferred.make<void>()
      const life = { index, die: Deferred.succeed(dead, undefined), isKilled: false }
      lives.push(life)
      yield* Effect.addFinalizer(() => Effect.sync(() => void (life.isKilled = true)))
      const process: AgentProcess = {
        newSession: Effect.succeed("ses"),
        prompt: () => Effect.succeed("end_turn" as const),
        cancel: () => Effect.void,
        exited: Deferred.await(dead),
        idleMillis: Effect.succeed(0)
      }
      return process
    })
  const lines: Array<string> = []
  const pool = yield* AgentPool.make({ count: options.count, start, onChange: Ref.update(changes, (n) => n + 1) }).pipe(
    Effect.provide(
      TracingLog.layerWith({
        filter: LogFilter.parse("info", "info"),
        ansi: false,
        write: (line) => void lines.push(line)
      })
    )
  )
  return { pool, lives, lines, changes: Ref.get(changes) }
})

it.effect("lends each agent once, and prefers the one that knows the channel", () =>
  Effect.gen(function* () {
    const { pool } = yield* testPool({ count: 2 })
    const first = pool.lend("a")
    const second = pool.lend("b")
    assert.isUndefined(pool.lend("c"))
    second?.sessions.set("b", { id: "ses", prompts: 1 })
    if (first !== undefined) yield* pool.giveBack(first, "kept")
    if (second !== undefined) yield* pool.giveBack(second, "kept")
    assert.strictEqual(pool.lend("b")?.index, second?.index)
    pool.forget("b")
    assert.strictEqual(second?.sessions.size, 0)
  })
)

it.effect("kills an agent that is given back to be replaced, and has a new one a second later", () =>
  Effect.gen(function* () {
    const { changes, lives, pool } = yield* testPool({ count: 1 })
    const lease = pool.lend("a")
    if (lease !== undefined) yield* pool.giveBack(lease, "replaced")
    yield* TestClock.adjust("999 millis")
    assert.deepStrictEqual([lives[0]?.isKilled, lives.length, yield* changes], [true, 1, 0])
    assert.isUndefined(pool.lend("a"))
    yield* TestClock.adjust("1 millis")
    assert.deepStrictEqual([lives.length, yield* changes], [2, 1])
    assert.notStrictEqual(pool.lend("a")?.process, lease?.process)
  })
)

it.effect("replaces an agent that died while nobody prompted it, also one that died during its last answer", () =>
  Effect.gen(function* () {
    const { lives, pool } = yield* testPool({ count: 1 })
    yield* lives[0]?.die ?? Effect.die("no agent")
    yield* TestClock.adjust("1 second")
    assert.strictEqual(lives.length, 2)
    const lease = pool.lend("a")
    yield* lives[1]?.die ?? Effect.die("no agent")
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(lives.length, 2)
    if (lease !== undefined) yield* pool.giveBack(lease, "kept")
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual(lives.length, 3)
  })
)

it.effect("gives up for five minutes after three deaths within one", () =>
  Effect.gen(function* () {
    const { lives, lines, pool } = yield* testPool({ count: 1 })
    for (const seconds of [1, 2]) {
      yield* lives.at(-1)?.die ?? Effect.die("no agent")
      yield* TestClock.adjust(`${seconds} seconds`)
    }
    assert.deepStrictEqual([lives.length, pool.isDead()], [3, false])
    yield* lives.at(-1)?.die ?? Effect.die("no agent")
    yield* TestClock.adjust("1 second")
    assert.isTrue(pool.isDead())
    assert.include(lines.join(""), "agent crashed too often — circuit open agent=0 crashes=3")
    yield* TestClock.adjust("5 minutes")
    assert.deepStrictEqual([lives.length, pool.isDead()], [4, false])
  })
)

it.effect("is dead at once when no agent starts, and tries a failed replacement again", () =>
  Effect.gen(function* () {
    const never = yield* testPool({ count: 2, failures: 2 })
    assert.isTrue(never.pool.isDead())
    assert.include(never.lines.join(""), "agent failed to spawn: no agent=0")
    const half = yield* testPool({ count: 2, failures: 1 })
    assert.isFalse(half.pool.isDead())
    assert.strictEqual(half.lives.length, 1)
  })
)
