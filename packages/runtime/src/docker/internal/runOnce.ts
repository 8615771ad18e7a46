/**
 * One process in a container, to its end: for the few things that need another user than the environment's shells.
 */
import { Effect, Stream } from "effect"
import type { EnvironmentError } from "../../EnvironmentError.ts"
import { makeHeadTail } from "../../internal/headTail.ts"
import type { ContainerEngine, ExecSpec } from "../ContainerEngine.ts"
import type { EngineError } from "../EngineError.ts"

/** Bytes kept of each output. */
const OUTPUT_BYTES = 16 * 1024

/** What a process said and how it ended. */
export interface OnceOutput {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Its stdin is empty. Waits as long as it takes: the caller bounds it. */
export const runOnce = (
  engine: ContainerEngine["Service"],
  id: string,
  spec: ExecSpec
): Effect.Effect<OnceOutput, EngineError | EnvironmentError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const process = yield* engine.exec(id, spec)
      yield* Stream.run(Stream.empty, process.stdin)
      const [stdout, stderr] = yield* Effect.all([collect(process.stdout), collect(process.stderr)], {
        concurrency: "unbounded"
      })
      return { exitCode: yield* process.exitCode, stdout, stderr }
    })
  )

const collect = Effect.fnUntraced(function* (output: Stream.Stream<Uint8Array, EnvironmentError>) {
  const kept = makeHeadTail(OUTPUT_BYTES)
  yield* Stream.runForEach(output, (bytes) => Effect.sync(() => kept.push(bytes)))
  return new TextDecoder().decode(kept.bytes())
})
