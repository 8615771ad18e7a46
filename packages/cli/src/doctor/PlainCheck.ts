/**
 * Whether trials run on this machine with nothing in between, for whoever asks for that by name: a command is run so.
 */
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import * as PlainEnvironment from "@buzz-orchestra/runtime/PlainEnvironment"
import { Effect, type FileSystem, type Path } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import { fromError } from "../Failure.ts"
import type { Finding } from "./Finding.ts"

/** Leaves nothing behind. No environment that counts: nobody gets it without asking. */
export const checkPlain: Effect.Effect<
  Finding,
  never,
  ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path
> = EnvironmentService.use(({ exec, facts }) => Effect.as(exec("true"), facts.limitations)).pipe(
  Effect.provide(PlainEnvironment.layer()),
  Effect.match({
    onFailure: (error): Finding => {
      const { line, next } = fromError(error)
      return { topic: "plain", status: "missing", detail: line, next }
    },
    onSuccess: judge
  })
)

/** What it cannot promise is part of what it can. Pure. */
export function judge(limitations: ReadonlyArray<string>): Finding {
  return {
    topic: "plain",
    status: "warn",
    detail: `works, without a sandbox. ${limitations.join(" ")}`,
    next: "ask for it with --environment plain, where agents may do whatever you may"
  }
}
