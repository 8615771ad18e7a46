/**
 * How the programs of the stack end: with a text on stderr and a code, and with or without handlers for signals.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Runtime, Schema } from "effect"

/** A program ends early. `stderr` is printed as it is, one newline added; `code` is what the parent sees. */
export class ProgramExit extends Schema.TaggedError<ProgramExit>()("ProgramExit", {
  code: Schema.Int,
  stderr: Schema.String
}) {
  override get message(): string {
    return this.stderr
  }
  override get [Runtime.errorExitCode](): number {
    return this.code
  }
  // The text was printed already, in the form the contract asks for.
  override readonly [Runtime.errorReported] = false
}

const printed = <A>(program: Effect.Effect<A, ProgramExit>): Effect.Effect<A, ProgramExit> =>
  Effect.tapError(program, (exit) =>
    Effect.sync(() => {
      if (exit.stderr !== "") process.stderr.write(`${exit.stderr}\n`)
    })
  )

/**
 * Runs `program` as the process. SIGTERM and SIGINT interrupt it, so that its scope closes. Its end is the end of the
 * process, also while somebody who was left behind still holds one of its pipes.
 */
export const run = (program: Effect.Effect<void, ProgramExit>): void => {
  NodeRuntime.runMain(printed(program), {
    teardown: (exit) => Runtime.defaultTeardown(exit, exitAfterOutput)
  })
}

/**
 * Runs `program` as the process without touching signals: until the program installs a handler itself, a signal kills it
 * as it kills the real one.
 */
export const runWithDefaultSignals = (program: Effect.Effect<void, ProgramExit>): void => {
  runMainWithoutSignals(printed(program))
}

const runMainWithoutSignals = Runtime.makeRunMain(({ fiber, teardown }) => {
  fiber.addObserver((exit) => teardown(exit, exitAfterOutput))
})

/** What a slow reader has not taken yet still waits in this process, and exiting would drop it. */
const exitAfterOutput = (code: number): void => {
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)))
}
