/**
 * The built programs of the reference stack, which play the part of the agents.
 */
import { execFileSync } from "node:child_process"
import { Effect } from "effect"
import * as StackFiles from "../packages/runtime/src/StackFiles.ts"
import { join } from "node:path"
import { ROOT } from "./Checkout.ts"

/** Their directory; built on first use. */
export const stackDirectory = (): string => {
  const script = join(ROOT, "packages/reference-stack/scripts/build.mjs")
  return execFileSync(process.execPath, [script], { encoding: "utf8" }).trim()
}

/** As a trial takes them: `package.json` tells Node what the files beside it are and is no program. */
export const stackFiles = Effect.gen(function* () {
  const stack = yield* StackFiles.fromDirectory(yield* Effect.sync(stackDirectory))
  const { "package.json": _, ...programs } = stack.programs
  const files: StackFiles.StackFiles = { programs }
  return files
})
