import { Effect } from "effect"
import { ProgramExit } from "../Program.ts"
export const buzz = (args: ReadonlyArray<string>): Effect.Effect<void, ProgramExit> =>
  Effect.fail(new ProgramExit({ code: 1, stderr: args.join(" ") }))
