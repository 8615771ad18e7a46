/**
 * A thousand frames and bodies in `npm test`, ten thousand in a soak: whatever is said to the relay, it answers in form, lets
 * nobody see what is not theirs, and takes nothing from those who have no right to say it.
 */
import { describe, it } from "@effect/vitest"
import * as Cases from "../../../../runtime/test/matrix/support/Cases.ts"
import { life, STEPS } from "./FuzzStep.ts"
import { FuzzWorld } from "./FuzzWorld.ts"

describe("the relay, whatever it is told", () => {
  it.prop(
    "neither fails nor lets anybody see or do what is not theirs",
    [life],
    ([{ kind, steps }]) => {
      const world = new FuzzWorld(kind)
      try {
        for (const step of steps) world.take(step)
      } catch (cause) {
        throw new Error(["after", ...world.transcript].join("\n  "), { cause })
      }
    },
    { arbitrary: Cases.options(1000 / STEPS, 10_000 / STEPS), timeout: Cases.timeout(20_000) }
  )
})
