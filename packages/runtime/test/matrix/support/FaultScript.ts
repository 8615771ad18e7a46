/**
 * What happens to a trial in one case of the matrix, as data: small enough to print, to shrink, and to run again.
 */
import { Arbitrary } from "effect"
import { upTo } from "./Cases.ts"

/** Every place where a trial asks somebody else for something, in the order of a trial. */
export const STEPS = [
  "write a document",
  "read the prompt",
  "provision",
  "read a file",
  "make the layout",
  "upload",
  "check digests",
  "ask for certificates",
  "open the watch",
  "ask the relay",
  "ask for proxies",
  "launch",
  "ask how it ended",
  "append to a log",
  "observe",
  "send",
  "read the channel",
  "probe the output",
  "snapshot",
  "send TERM",
  "send KILL",
  "list ports",
  "ask for sizes",
  "export the evidence",
  "collect the artifacts",
  "stop a program",
  "tear down"
] as const

/** A place where a trial asks somebody else for something. */
export type Step = (typeof STEPS)[number]

/** What can become of a call. `sticks` cannot be interrupted; both it and `slow` go on after `SLOW_SECONDS`. */
export const WAYS = ["fails", "dies", "hangs", "sticks", "slow", "interrupts", "interrupts after"] as const

/** What can become of a call. */
export type Way = (typeof WAYS)[number]

/** Longer than every deadline of the clean-up. */
export const SLOW_SECONDS = 200

/** One call that goes wrong: the `occurrence`-th of its step, from 0. */
export interface Fault {
  readonly step: Step
  readonly occurrence: number
  readonly way: Way
}

/** What becomes of an agent by itself. */
export const FATES = [
  "works",
  "dies before ready",
  "never ready",
  "dies at ready",
  "dies in a turn",
  "refuses",
  "resists TERM",
  "resists KILL"
] as const

/** What becomes of an agent by itself. */
export type Fate = (typeof FATES)[number]

/** How the team behaves when it has its task. `owing` finishes its work and never says what it used. */
export const STORIES = ["done", "owing", "silent", "quiescent"] as const

/** How the team behaves when it has its task. */
export type Story = (typeof STORIES)[number]

/** One case. Times are milliseconds of the trial. */
export interface FaultScript {
  /** One per agent, the orchestrator first; 1 to 6. */
  readonly fates: ReadonlyArray<Fate>
  readonly story: Story
  readonly forwarder: boolean
  readonly sweepAll: boolean
  /** Whether the condition has an output that is probed. */
  readonly probed: boolean
  /** Whether a verifier needs the evidence of the trial. */
  readonly graded: boolean
  readonly faults: ReadonlyArray<Fault>
  /** Somebody interrupts the trial. */
  readonly interruptAt: number | undefined
  /** Somebody interrupts it between two steps of its fibers: before the task of this number. */
  readonly interruptAtTask: number | undefined
  /** The environment is gone: its watch ends and nothing more can be run in it. */
  readonly lostAt: number | undefined
  /** Decides the order of everything that happens at the same time. */
  readonly seed: number
}

/** One of these, the first `weight` times as likely as any other; smaller cases have more of the first. */
const mostly = <A>(weight: number, [first, ...others]: readonly [A, ...ReadonlyArray<A>]): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(upTo(weight + others.length - 1), (n) => others[n - weight] ?? first)

/** Sometimes a moment; most of a trial happens in its first seconds. */
const moment = Arbitrary.map(Arbitrary.all([upTo(9), upTo(4000)]), ([chance, millis]) =>
  chance < 8 ? undefined : chance === 8 ? millis : millis * 20
)

/** One to six agents, most often a few: a case costs as much as it has agents. */
const teams = Arbitrary.map(
  Arbitrary.all([mostly(4, [2, 1, 3, 4, 5, 6]), Arbitrary.array(mostly(16, FATES), { minLength: 6, maxLength: 6 })]),
  ([size, fates]) => fates.slice(0, size)
)

/** About as many as a trial of a few agents has. */
const TASKS = 1500

/** Any case; those with fewer faults are smaller. */
export const faultScripts: Arbitrary.Arbitrary<FaultScript> = Arbitrary.all({
  fates: teams,
  story: mostly(3, STORIES),
  forwarder: mostly(1, [false, true]),
  sweepAll: mostly(3, [false, true]),
  probed: mostly(2, [false, true]),
  graded: mostly(2, [false, true]),
  faults: Arbitrary.array(
    Arbitrary.all({ step: mostly(1, STEPS), occurrence: mostly(5, [0, 1, 2, 3]), way: mostly(1, WAYS) }),
    { minLength: 0, maxLength: 4 }
  ),
  interruptAt: moment,
  interruptAtTask: Arbitrary.map(Arbitrary.all([upTo(3), upTo(TASKS)]), ([chance, task]) =>
    chance === 3 ? task : undefined
  ),
  lostAt: moment,
  seed: upTo(2 ** 31)
})

/** A case in which everything goes well, with changes. */
export const scriptWith = (fields: Partial<FaultScript> = {}): FaultScript => ({
  fates: ["works", "works"],
  story: "done",
  forwarder: true,
  sweepAll: false,
  probed: true,
  graded: true,
  faults: [],
  interruptAt: undefined,
  interruptAtTask: undefined,
  lostAt: undefined,
  seed: 1,
  ...fields
})
