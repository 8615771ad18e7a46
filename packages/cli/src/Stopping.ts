/**
 * How a person stops the command: once in order, twice at once. Needs `process`, because signals are the process's own.
 */
import { Context, type Effect, type Fiber, Runtime, Schema } from "effect"
import * as fs from "node:fs"
import { ofSignal, SIGNALS, type StopSignal } from "./ExitCode.ts"

const STDERR = 2

/**
 * A second signal this soon is the same key press: the terminal signals the whole foreground group, and wrappers such as
 * package runners pass on what they got.
 */
const SAME_PRESS_MILLIS = 200

/**
 * What a signal means at `now`, when the first one came at `first`; in milliseconds of any clock. A terminal that closes, or
 * a reader that goes away, while the command stops in order is no wish to hurry.
 */
export const reaction = (first: number | undefined, signal: StopSignal, now: number): "stop" | "leave" | "ignore" => {
  if (first === undefined) return "stop"
  const insists = signal === "SIGINT" || signal === "SIGTERM"
  return insists && now - first > SAME_PRESS_MILLIS ? "leave" : "ignore"
}

/** What the process was asked, and what it would leave behind if it left now. One per process. */
export class Stopping {
  private first: { readonly signal: StopSignal; readonly at: number } | undefined = undefined
  private listeners: Array<(signal: StopSignal) => void> = []
  private leftovers: ReadonlyArray<string> = []

  /** The signal that asked to stop, if any did. */
  get signal(): StopSignal | undefined {
    return this.first?.signal
  }

  /** Says what may be left when the process leaves without stopping in order. Replaces what was said before. */
  mayLeave(leftovers: ReadonlyArray<string>): void {
    this.leftovers = leftovers
  }

  /** Calls `listener` when the process is asked to stop, at once when it was already. */
  onStop(listener: (signal: StopSignal) => void): void {
    this.listeners.push(listener)
    if (this.first !== undefined) listener(this.first.signal)
  }

  /** Stops in order the first time; a second request, unless it is the same key press, leaves at once. */
  request(signal: StopSignal): void {
    const now = performance.now()
    switch (reaction(this.first?.at, signal, now)) {
      case "stop":
        this.first = { signal, at: now }
        for (const listener of this.listeners) listener(signal)
        return
      case "leave":
        return this.leave(signal)
      case "ignore":
        return
    }
  }

  private leave(signal: StopSignal): never {
    const lines = [
      "left at once, without stopping in order.",
      ...(this.leftovers.length === 0 ? [] : ["What may be left:", ...this.leftovers.map((line) => `  ${line}`)])
    ]
    try {
      fs.writeSync(STDERR, `\n${lines.join("\n")}\n`)
    } catch {
      // Nobody reads stderr; the process leaves all the same.
    }
    process.exit(ofSignal(signal))
  }
}

/** The process's `Stopping`, for commands that have something to leave behind. */
export class StoppingRef extends Context.Service<StoppingRef, Stopping>()("@buzz-orchestra/cli/Stopping") {}

/** Ends the process with a code; everything a person should read was printed already. */
export class ExitWith extends Schema.TaggedError<ExitWith>()("ExitWith", { code: Schema.Int }) {
  override get message(): string {
    return `exit code ${this.code}`
  }
  override get [Runtime.errorExitCode](): number {
    return this.code
  }
  override readonly [Runtime.errorReported] = false
}

/** Runs `program` as the process: signals interrupt it, its `ExitWith` or the signal decides the code. */
export const runMain = (program: Effect.Effect<void, ExitWith>, stopping: Stopping): void => {
  const run = Runtime.makeRunMain(({ fiber, teardown }) => {
    installHandlers(fiber, stopping)
    fiber.addObserver((exit) => teardown(exit, (code) => process.exit(code)))
  })
  run(program, {
    disableErrorReporting: true,
    // A signal decides the code even when the program met an error on its way out.
    teardown: (exit, onExit) =>
      stopping.signal === undefined ? Runtime.defaultTeardown(exit, onExit) : onExit(ofSignal(stopping.signal))
  })
}

const installHandlers = (fiber: Fiber.Fiber<unknown, unknown>, stopping: Stopping): void => {
  for (const signal of Object.keys(SIGNALS) as ReadonlyArray<StopSignal>) {
    // Node ignores SIGPIPE and reports a reader that went away as an error of the write; `OutputNode` passes that on.
    if (signal !== "SIGPIPE") process.on(signal, () => stopping.request(signal))
  }
  stopping.onStop(() => fiber.interruptUnsafe(fiber.id))
}
