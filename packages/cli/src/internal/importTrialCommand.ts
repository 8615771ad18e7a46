import { Effect } from "effect"

/** Loaded when a trial is run: it brings the relay and the runtime, which nearly double the start of every other command. */
export const importTrialCommand = Effect.promise(() => import("../TrialCommand.ts"))
