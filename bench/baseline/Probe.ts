/**
 * How the polling harness looks into an environment: each look is a process of its own there, whose whole output is
 * collected before anything of it is read. In a container that is one `exec` of the engine per look. The local sandbox has no
 * engine; there a look goes through the sandbox's shell and costs next to nothing, which flatters this harness.
 */
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { EnvironmentService, type EnvironmentVariables } from "../../packages/runtime/src/EnvironmentService.ts"
import { ContainerEngine } from "../../packages/runtime/src/docker/ContainerEngine.ts"

/** What a look brings. */
export interface Look {
  readonly exitCode: number
  readonly stdout: string
}

/** Looks into one environment. */
export class Probe extends Context.Service<
  Probe,
  { exec(command: string, env?: EnvironmentVariables): Effect.Effect<Look, { readonly message: string }> }
>()("bench/baseline/Probe") {}

/** More than any log of a bench has. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024

/** Through the environment's own shell. */
export const layerLocal: Layer.Layer<Probe, never, EnvironmentService> = Layer.effect(
  Probe,
  Effect.map(EnvironmentService, ({ exec }) =>
    Probe.of({
      exec: (command, env) => exec(command, { maxOutputBytes: MAX_OUTPUT_BYTES, ...(env === undefined ? {} : { env }) })
    })
  )
)

/** Through an exec of the engine per look, in the container that the environment is. */
export const layerEngine: Layer.Layer<Probe, never, EnvironmentService | ContainerEngine> = Layer.effect(
  Probe,
  Effect.gen(function* () {
    const engine = yield* ContainerEngine
    const id = (yield* EnvironmentService).facts.container?.id ?? ""
    return Probe.of({
      exec: Effect.fnUntraced(function* (command, env = {}) {
        const argv = ["env", ...Object.entries(env).map(([name, value]) => `${name}=${plain(value)}`)]
        const process = yield* engine.exec(id, { argv: [...argv, "bash", "-c", command] })
        yield* Stream.run(Stream.empty, process.stdin)
        const [stdout] = yield* Effect.all(
          [Stream.mkString(Stream.decodeText(process.stdout)), Stream.runDrain(process.stderr)],
          {
            concurrency: "unbounded"
          }
        )
        return { exitCode: yield* process.exitCode, stdout }
      }, Effect.scoped)
    })
  })
)

/** The engine's program takes variables as arguments, where everybody can read them; so does this. */
const plain = (value: string | Redacted.Redacted<string>): string =>
  typeof value === "string" ? value : Redacted.value(value)
