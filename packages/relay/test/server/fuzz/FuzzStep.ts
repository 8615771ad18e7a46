/**
 * What is drawn for a fuzzed life: numbers that choose, and text and JSON as they come. What the choices mean is `FuzzWorld`'s,
 * so that most of what is said makes sense at the moment in which it is said.
 */
import { Arbitrary, Schema } from "effect"
import * as Cases from "../../../../runtime/test/matrix/support/Cases.ts"

/** How many things are said in one life. */
export const STEPS = 25

const DRAWS = 20

/** One thing that is said. */
export interface Step {
  readonly draws: ReadonlyArray<number>
  readonly text: string
  readonly junk: Schema.Json
}

const step: Arbitrary.Arbitrary<Step> = Arbitrary.all({
  draws: Arbitrary.array(Cases.upTo(0xff_ff_ff_ff), { minLength: DRAWS, maxLength: DRAWS }),
  text: Arbitrary.schema(Schema.String),
  junk: Arbitrary.schema(Schema.Json)
})

/** A life: whether the relay is closed, and what is said to it. */
export const life: Arbitrary.Arbitrary<{ readonly kind: number; readonly steps: ReadonlyArray<Step> }> = Arbitrary.all({
  kind: Cases.upTo(0xff_ff_ff_ff),
  steps: Arbitrary.array(step, { minLength: STEPS, maxLength: STEPS })
})

/** Chooses by the numbers that were drawn, one after the other. */
export class Dice {
  private readonly draws: ReadonlyArray<number>
  private next = 0

  constructor(draws: ReadonlyArray<number>) {
    this.draws = draws
  }

  /** One of these, each as likely as any other: extremes are drawn more often than other numbers, so they are mixed first. */
  pick<A>(list: ReadonlyArray<A>): A {
    const mixed = mix((this.draws[this.next++ % this.draws.length] ?? 0) + this.next)
    const found = list[mixed % list.length]
    if (found === undefined) throw new RangeError("nothing to choose from")
    return found
  }

  /** True once in so many times. */
  rarely(times: number): boolean {
    return this.pick(Array.from({ length: times }, (_, i) => i === 0))
  }

  /** Up to `maximum` of them. */
  some<A>(maximum: number, draw: () => A): ReadonlyArray<A> {
    return Array.from({ length: this.pick(Array.from({ length: maximum + 1 }, (_, i) => i)) }, draw)
  }
}

/** A finisher of hashes: neighbours come out far apart. */
const mix = (value: number): number => {
  let mixed = value >>> 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85_eb_ca_6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2_b2_ae_35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
