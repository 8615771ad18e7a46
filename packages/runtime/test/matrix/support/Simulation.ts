/**
 * Runs an effect in a world of its own: one thread, no real time, and an order of fibers that a seed decides. Two runs of the
 * same effect with the same seed are the same to the last step, an hour takes no time, and what is left at the end can be
 * counted: fibers, sleeps, tasks.
 */
import { Clock, Context, Duration, Effect, type Exit, Fiber, Metric, Random, References, Scheduler } from "effect"

/** What is still there. */
export interface Remains {
  /** Fibers that have not ended. */
  readonly fibers: number
  /** Timers that have not fired and were not cancelled. */
  readonly sleeps: number
}

/** How a simulated effect ended. */
export interface Simulated<A, E> {
  /** `undefined` when it waits for something that will never happen. */
  readonly exit: Exit.Exit<A, E> | undefined
  /** Counted after everything that was still to happen has happened. */
  readonly remains: Remains
}

/** More tasks than any trial needs: beyond it something runs in circles. */
const TASK_LIMIT = 1_000_000

/** Small numbers of good quality from a seed: `mulberry32`. */
export const generator = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Runs the next task that a seed picks; whoever is ready may be first, as on a machine with many cores. */
class ShuffledScheduler implements Scheduler.Scheduler {
  readonly executionMode = "async"
  private readonly tasks: Array<() => void> = []
  private readonly random: () => number
  private readonly beforeTask: (count: number) => void
  private count = 0

  constructor(seed: number, beforeTask: (count: number) => void) {
    this.random = generator(seed)
    this.beforeTask = beforeTask
  }

  shouldYield(fiber: Fiber.Fiber<unknown, unknown>): boolean {
    return fiber.currentOpCount >= fiber.cache.maxOpsBeforeYield
  }

  makeDispatcher(): Scheduler.SchedulerDispatcher {
    return {
      scheduleTask: (task) => void this.tasks.push(task),
      flush: () => this.drain()
    }
  }

  /** Runs until nobody is ready. */
  drain(): void {
    while (this.tasks.length > 0) {
      this.count += 1
      if (this.count > TASK_LIMIT) throw new Error("the simulated fibers never come to rest")
      this.beforeTask(this.count)
      const index = Math.floor(this.random() * this.tasks.length)
      const [task] = this.tasks.splice(index, 1)
      task?.()
    }
  }
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** Time that passes only when it is told to. */
class SimulatedClock implements Clock.Clock {
  private millis = Date.UTC(2026, 0, 1)
  private readonly sleepers = new Set<Sleeper>()

  get sleeping(): number {
    return this.sleepers.size
  }

  currentTimeMillisUnsafe(): number {
    return this.millis
  }
  readonly currentTimeMillis = Effect.sync(() => this.millis)

  currentTimeNanosUnsafe(): bigint {
    return BigInt(this.millis) * 1_000_000n
  }
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())

  monotonicTimeNanosUnsafe(): bigint {
    return this.currentTimeNanosUnsafe()
  }
  readonly monotonicTimeNanos = this.currentTimeNanos

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    const millis = Math.ceil(Duration.toMillis(duration))
    if (millis <= 0) return Effect.yieldNow
    return Effect.callback<void>((resume) => {
      const sleeper = { at: this.millis + millis, wake: () => resume(Effect.void) }
      this.sleepers.add(sleeper)
      return Effect.sync(() => void this.sleepers.delete(sleeper))
    })
  }

  /** Goes to the earliest sleeper and wakes it; false when there is none, or none before the end of time. */
  advance(): boolean {
    let next: Sleeper | undefined
    for (const sleeper of this.sleepers) if (next === undefined || sleeper.at < next.at) next = sleeper
    if (next === undefined || !Number.isFinite(next.at)) return false
    this.sleepers.delete(next)
    this.millis = Math.max(this.millis, next.at)
    next.wake()
    return true
  }
}

/** What decides how a simulation goes. */
export interface SimulationOptions {
  /** Who goes first, and what is random. */
  readonly seed: number
  /** Called before each task that a fiber has to do, with its number from 1; whatever it does happens between two tasks. */
  readonly beforeTask?: (count: number) => void
}

/** Runs `effect` to its end, or until nothing can happen any more. */
export const simulate = <A, E>(
  effect: Effect.Effect<A, E>,
  { beforeTask = () => undefined, seed }: SimulationOptions
): Simulated<A, E> => {
  const scheduler = new ShuffledScheduler(seed, beforeTask)
  const clock = new SimulatedClock()
  const random = generator(seed + 1)
  let fibers = 0
  const context = Context.empty().pipe(
    Context.add(Clock.Clock, clock),
    Context.add(Scheduler.Scheduler, scheduler),
    Context.add(Scheduler.MaxOpsBeforeYield, seed % 2 === 0 ? 2048 : 32),
    Context.add(Random.Random, {
      nextDoubleUnsafe: random,
      nextIntUnsafe: () => Math.floor((random() - 0.5) * 2 * Number.MAX_SAFE_INTEGER)
    }),
    Context.add(References.MinimumLogLevel, "None"),
    Context.add(Metric.FiberRuntimeMetrics, {
      recordFiberStart: () => void fibers++,
      recordFiberEnd: () => void fibers--
    })
  )
  // Where each function was called from costs a tenth of a trial, and the calls of a case tell more.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    const fiber = Effect.runForkWith(context)(effect, { scheduler })
    for (scheduler.drain(); clock.advance(); scheduler.drain());
    return { exit: fiber.pollUnsafe(), remains: { fibers, sleeps: clock.sleeping } }
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
