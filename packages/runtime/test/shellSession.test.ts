import type { ByteDuplex } from "@buzz-orchestra/runtime/ByteDuplex"
import { assert, describe, it } from "@effect/vitest"
import { type Cause, Effect, Fiber, Queue, Sink, Stream } from "effect"
import { TestClock } from "effect/testing"
import { openSession, SessionFailure } from "../src/internal/shellSession.ts"

/** A program that is no shell, opened as one: its streams say and end what a test lets them. */
const opening = Effect.gen(function* () {
  const stdout = yield* Queue.make<Uint8Array, Cause.Done>()
  const stderr = yield* Queue.make<Uint8Array, Cause.Done>()
  const duplex: ByteDuplex = {
    stdin: Sink.drain,
    stdout: Stream.fromQueue(stdout),
    stderr: Stream.fromQueue(stderr),
    exitCode: Effect.succeed(127)
  }
  const session = yield* Effect.forkScoped(Effect.flip(openSession(duplex)))
  const say = (text: string) => Queue.offer(stderr, new TextEncoder().encode(text))
  return { session, say, endStdout: Queue.end(stdout), endStderr: Queue.end(stderr) }
})

const detailOf = (error: unknown) => (error instanceof SessionFailure ? error.detail : String(error))

const WORDS = 'exec: "sh": executable file not found in $PATH'

describe("shellSession", () => {
  it.effect("waits for what a program that is no shell says after its stdout has ended", () =>
    Effect.gen(function* () {
      const { endStderr, endStdout, say, session } = yield* opening
      yield* endStdout
      yield* TestClock.adjust("999 millis")
      assert.isUndefined(session.pollUnsafe())
      yield* say(WORDS)
      yield* endStderr
      assert.strictEqual(detailOf(yield* Fiber.join(session)), `no shell could be started: ${WORDS}`)
    })
  )

  it.effect("does not wait for ever for a stream that somebody else holds open", () =>
    Effect.gen(function* () {
      const { endStdout, say, session } = yield* opening
      yield* say(WORDS)
      yield* endStdout
      yield* TestClock.adjust("1 second")
      assert.strictEqual(detailOf(yield* Fiber.join(session)), `no shell could be started: ${WORDS}`)
    })
  )
})
