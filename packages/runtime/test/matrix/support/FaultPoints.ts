/**
 * Where the faults of a script happen: every call of the trial across the border of its doubles comes through `at`, and is
 * noted there. One per case; only one fiber runs at a time.
 */
import type { Phase } from "@buzz-orchestra/runtime/TrialEvent"
import { Clock, Effect, type Scope } from "effect"
import { type Fault, type FaultScript, SLOW_SECONDS, type Step } from "./FaultScript.ts"

/** A call that was made. */
export interface Call {
  readonly step: Step
  /** What it was about, such as a path or a program's name. */
  readonly about: string
  readonly at: number
  /** The phases that had begun by then; more than one only where they overlap. */
  readonly phase: Phase | undefined
  /** What became of it. */
  readonly fault: Fired | undefined
}

/** A fault that came to pass; `word` stands in the error, for those that make one. */
export interface Fired extends Fault {
  readonly word: string
}

/** Something that must be given back. */
export interface Held {
  readonly what: string
  readonly event: "taken" | "given back"
}

/** One case's notes. */
export class FaultPoints {
  readonly calls: Array<Call> = []
  readonly held: Array<Held> = []
  /** The phase that began last. */
  phase: Phase | undefined = undefined
  /** When somebody first interrupted the trial; in milliseconds of the clock. */
  interruptedAt: number | undefined = undefined
  /** The phase in which that was. */
  interruptedIn: Phase | undefined = undefined
  /** Interrupts the trial; set when it runs. */
  interrupt: () => void = () => undefined
  /** Reads the clock of the case; set when it runs. */
  now: () => number = () => 0
  private readonly counts = new Map<Step, number>()
  private readonly script: FaultScript

  constructor(script: FaultScript) {
    this.script = script
  }

  /** The faults that came to pass, in the order in which they did. */
  get fired(): ReadonlyArray<Fired & { readonly phase: Phase | undefined; readonly at: number }> {
    return this.calls.flatMap(({ at, fault, phase }) => (fault === undefined ? [] : [{ ...fault, phase, at }]))
  }

  take(what: string): void {
    this.held.push({ what, event: "taken" })
  }

  giveBack(what: string): void {
    this.held.push({ what, event: "given back" })
  }

  /** Takes something that the scope gives back. */
  holding<A, E, R>(what: string, taking: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Scope.Scope> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.tap(restore(taking), () =>
        Effect.andThen(
          Effect.addFinalizer(() => Effect.sync(() => this.giveBack(what))),
          Effect.sync(() => this.take(what))
        )
      )
    )
  }

  /** Interrupts the trial now. */
  readonly stopNow = (): void => {
    if (this.interruptedAt === undefined) this.interruptedIn = this.phase
    this.interruptedAt ??= this.now()
    this.interrupt()
  }

  /** The same as an effect. */
  readonly stop: Effect.Effect<void> = Effect.sync(this.stopNow)

  /** Makes the call, or what the script makes of it; `fail` is how this call fails, with the word in it. */
  at<A, E, R>(
    step: Step,
    about: string,
    call: Effect.Effect<A, E, R>,
    fail: (word: string) => Effect.Effect<NoInfer<A>, NoInfer<E>>
  ): Effect.Effect<A, E, R> {
    return Effect.flatMap(Clock.currentTimeMillis, (at) => {
      const occurrence = this.counts.get(step) ?? 0
      this.counts.set(step, occurrence + 1)
      const planned = this.script.faults.find((fault) => fault.step === step && fault.occurrence === occurrence)
      const fault = planned === undefined ? undefined : { ...planned, word: `fault ${step} ${occurrence}` }
      this.calls.push({ step, about, at, phase: this.phase, fault })
      switch (fault?.way) {
        case undefined:
          return call
        case "fails":
          return fail(fault.word)
        case "dies":
          return Effect.die(new Error(fault.word))
        case "hangs":
          return COMES_BACK.has(step) ? Effect.andThen(Effect.uninterruptible(Effect.sleep(SLOW)), call) : Effect.never
        case "sticks":
          return Effect.andThen(Effect.uninterruptible(Effect.sleep(SLOW)), call)
        case "slow":
          return Effect.andThen(Effect.sleep(SLOW), call)
        case "interrupts":
          return Effect.andThen(this.stop, call)
        case "interrupts after":
          return Effect.tap(call, () => this.stop)
      }
    })
  }
}

/** Opening a file can be interrupted on no platform, so a disk that never came back would be the end of any program. */
const COMES_BACK: ReadonlySet<Step> = new Set<Step>(["read a file"])

const SLOW = `${SLOW_SECONDS} seconds` as const
