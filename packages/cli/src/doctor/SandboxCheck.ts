/**
 * Whether a local sandbox can be had: each of the programs that build one is made to build one, and a command is run in it.
 */
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import type { SandboxBackend } from "@buzz-orchestra/runtime/Sandbox"
import { Clock, Effect, type FileSystem, type Path, Result } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import { fromError } from "../Failure.ts"
import { duration } from "../internal/terminalText.ts"
import type { Finding } from "./Finding.ts"

const NAMES: Readonly<Record<SandboxBackend, string>> = { bwrap: "bubblewrap", unshare: "unshare" }

/** Leaves nothing behind. */
export const checkSandbox: Effect.Effect<
  Finding,
  never,
  ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem | Path.Path
> = Effect.gen(function* () {
  const [bwrap, unshare] = yield* Effect.all([attempt("bwrap"), attempt("unshare")], { concurrency: 2 })
  return judge(bwrap, unshare)
})

/** How one backend fared: the time it took, or what it said. */
export interface Attempt {
  readonly backend: SandboxBackend
  readonly result: Result.Result<number, { readonly line: string; readonly next: string }>
}

const attempt = Effect.fnUntraced(function* (backend: SandboxBackend) {
  const start = yield* Clock.currentTimeMillis
  const trying = EnvironmentService.use(({ exec }) => exec("true")).pipe(
    Effect.provide(LocalEnvironment.layer({ backend })),
    Effect.mapError(fromError),
    Effect.andThen(Effect.map(Clock.currentTimeMillis, (end) => end - start))
  )
  const tried: Attempt = { backend, result: yield* Effect.result(trying) }
  return tried
})

/** The first is taken when it works. Pure. */
export const judge = (first: Attempt, second: Attempt): Finding => {
  const working = [first, second].filter(({ result }) => Result.isSuccess(result))
  const [used] = working
  if (used !== undefined && Result.isSuccess(used.result)) {
    const other = used === first ? second : first
    const more = working.length === 2 ? `so does ${NAMES[other.backend]}` : `${NAMES[other.backend]} does not`
    const detail = `${NAMES[used.backend]} builds one, in ${duration(used.result.success)}; ${more}`
    return { topic: "sandbox", status: "ok", detail, isEnvironment: true }
  }
  const complaints = [first, second].flatMap(({ result }) => (Result.isFailure(result) ? [result.failure] : []))
  return {
    topic: "sandbox",
    status: "missing",
    detail: complaints.map(({ line }) => line).join("; "),
    next: "install bubblewrap, or run trials with --environment docker",
    isEnvironment: true
  }
}
