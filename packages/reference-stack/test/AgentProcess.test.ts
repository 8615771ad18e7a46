import * as AgentProcess from "@buzz-orchestra/reference-stack/buzz-acp/AgentProcess"
import * as LogFilter from "@buzz-orchestra/reference-stack/LogFilter"
import { TracingLog } from "@buzz-orchestra/reference-stack/TracingLog"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Queue, Sink, Stream } from "effect"
import { ChildProcessSpawner } from "effect/process"
import { TestClock } from "effect/testing"

/** An agent whose pipes are in the hands of the test. */
const agent = Effect.gen(function* () {
  const stdout = yield* Queue.unbounded<string>()
  const stdin = yield* Queue.unbounded<string>()
  const exit = yield* Deferred.make<ChildProcessSpawner.ExitCode>()
  const lines: Array<string> = []
  const handle = ChildProcessSpawner.makeHandle({
    pid: ChildProcessSpawner.ProcessId(1),
    exitCode: Deferred.await(exit),
    isRunning: Effect.succeed(true),
    kill: () => Effect.void,
    stdin: Sink.forEach((chunk: Uint8Array) => Queue.offer(stdin, Buffer.from(chunk).toString())),
    stdout: Stream.map(Stream.fromQueue(stdout), (line) => Buffer.from(`${line}\n`)),
    stderr: Stream.empty,
    all: Stream.empty,
    getInputFd: () => Sink.drain,
    getOutputFd: () => Stream.empty,
    unref: Effect.succeed(Effect.void)
  })
  const services = Layer.merge(
    Layer.succeed(
      ChildProcessSpawner.ChildProcessSpawner,
      ChildProcessSpawner.make(() => Effect.succeed(handle))
    ),
    TracingLog.layerWith({
      filter: LogFilter.parse("info", "info"),
      ansi: false,
      write: (line) => void lines.push(line)
    })
  )
  const start = AgentProcess.start({ command: "agent", args: [], mcpServers: [] }, 0).pipe(Effect.provide(services))
  const answer = Effect.fnUntraced(function* (answer: { readonly result: unknown } | { readonly error: unknown }) {
    const request: { readonly id: unknown } = JSON.parse(yield* Queue.take(stdin))
    yield* Queue.offer(stdout, JSON.stringify({ jsonrpc: "2.0", id: request.id, ...answer }))
  })
  const says = (text: string) => {
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } }
    const notification = { jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } }
    return Queue.offer(stdout, JSON.stringify(notification))
  }
  return { start, answer, says, lines, exit: Deferred.succeed(exit, ChildProcessSpawner.ExitCode(1)) }
})

/** Until what the SDK does in promises is done. */
const until = (condition: () => boolean) =>
  Effect.repeat(
    Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
    { until: condition, times: 1000 }
  )

it.effect("counts silence from the last thing that the agent wrote, and tells its errors from its end", () =>
  Effect.gen(function* () {
    const one = yield* agent
    const starting = yield* Effect.forkChild(one.start)
    yield* one.answer({ result: { protocolVersion: 1, agentCapabilities: {} } })
    const process = yield* Fiber.join(starting)
    assert.match(one.lines[0] ?? "", /INFO buzz_acp: agent initialized: \{"protocolVersion":1.*\} agent=0\n$/)
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual(yield* process.idleMillis, 5000)
    yield* one.says("still here")
    yield* until(() => one.lines.length > 1)
    assert.include(one.lines[1], "INFO acp::stream: still here")
    yield* TestClock.adjust("1 second")
    assert.strictEqual(yield* process.idleMillis, 1000)
    const prompt = yield* Effect.forkChild(Effect.flip(process.prompt("s", "x")))
    yield* one.answer({ error: { code: -32_000, message: "llm: overloaded" } })
    const { detail, kind } = yield* Fiber.join(prompt)
    assert.deepStrictEqual([kind, detail], ["error", "llm: overloaded"])
    yield* one.exit
    yield* process.exited
    assert.strictEqual((yield* Effect.flip(process.prompt("s", "x"))).kind, "exited")
  })
)

it.effect("says why an agent did not start: it is gone, or it does not answer", () =>
  Effect.gen(function* () {
    const dead = yield* agent
    yield* dead.exit
    const failure = yield* Effect.flip(dead.start)
    assert.strictEqual(failure.detail, "agent initialize failed: Agent process exited unexpectedly")
    const mute = yield* agent
    const starting = yield* Effect.forkChild(Effect.flip(mute.start), { startImmediately: true })
    yield* TestClock.adjust("60 seconds")
    assert.strictEqual((yield* Fiber.join(starting)).detail, "agent timed out during init (60s)")
  })
)
