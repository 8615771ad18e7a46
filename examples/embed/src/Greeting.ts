/**
 * What this program is about: greetings, written by a team of agents.
 */
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { Trial } from "@buzz-orchestra/runtime/Trial"
import type { Outcome } from "@buzz-orchestra/runtime/TrialEvent"
import { Effect } from "effect"
import type { Team } from "./Team.ts"

/** What became of a trial, and what the team wrote; `undefined` when it wrote nothing. */
export interface Greeting {
  readonly outcome: Outcome
  readonly text: string | undefined
}

/**
 * Runs one trial, in the environment and on the relay it is given, and reads what the team left in the work directory. The
 * environment outlives the trial: it ends with the scope of its layer.
 */
export const greet = Effect.fn("greet")(function* (team: Team, person: string, directory: string) {
  const trial = yield* Trial
  const environment = yield* EnvironmentService
  const { outcome } = yield* trial.run({
    ...team,
    trialId: person,
    instruction: `Write a greeting for ${person} into greeting.txt.`,
    directory
  })
  const { exitCode, stdout } = yield* environment.exec("cat greeting.txt")
  const greeting: Greeting = { outcome, text: exitCode === 0 ? stdout.trim() : undefined }
  return greeting
})
