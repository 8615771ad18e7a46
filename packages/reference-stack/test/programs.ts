/**
 * What the integration tests share: the built programs, started as processes whose output can be waited for.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ReferenceStack from "@buzz-orchestra/reference-stack/ReferenceStack"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { ChildProcess } from "effect/process"

/** Path of a built program. */
export const programPath = (name: ReferenceStack.Program) =>
  Effect.map(ReferenceStack.directory, (directory) => `${directory}/${name}`)

/** A running program with everything it has printed so far. */
export interface Running {
  readonly pid: number
  readonly output: () => string
  /** Waits, at most 10 s, until stdout or stderr contain `text`. */
  awaitOutput(text: string): Effect.Effect<string>
  readonly exitCode: Effect.Effect<number, unknown>
}

/** Starts `command` with exactly this environment; closing the scope ends its process group. */
export const start = (
  command: string,
  args: ReadonlyArray<string>,
  options: { readonly env?: Record<string, string>; readonly cwd?: string } = {}
) =>
  Effect.gen(function* () {
    const handle = yield* ChildProcess.make(command, args, {
      stdin: "pipe",
      env: { PATH: process.env["PATH"] ?? "", ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      killSignal: "SIGTERM",
      forceKillAfter: "2 seconds"
    })
    let output = ""
    const waiting = new Set<{ readonly text: string; readonly found: Deferred.Deferred<string> }>()
    yield* handle.all.pipe(
      Stream.decodeText(),
      Stream.runForEach((chunk) =>
        Effect.sync(() => {
          output += chunk
          for (const wait of waiting)
            if (output.includes(wait.text)) Deferred.doneUnsafe(wait.found, Effect.succeed(output))
        })
      ),
      Effect.forkScoped
    )
    const awaitOutput = (text: string) =>
      Effect.gen(function* () {
        if (output.includes(text)) return output
        const wait = { text, found: yield* Deferred.make<string>() }
        waiting.add(wait)
        return yield* Deferred.await(wait.found)
      }).pipe(
        Effect.timeoutOrElse({
          duration: "10 seconds",
          orElse: () => Effect.die(new Error(`no ${JSON.stringify(text)} within 10 s in:\n${output}`))
        })
      )
    const running: Running = { pid: handle.pid, output: () => output, awaitOutput, exitCode: handle.exitCode }
    return running
  })

/** Everything that starts processes needs this. */
export const layer = NodeServices.layer

/** The directory of the built programs, for code outside Effect. */
export const programDirectory: Promise<string> = Effect.runPromise(
  Effect.provide(ReferenceStack.directory, NodeServices.layer)
)

/** Joins a fiber, at most 10 s. */
export const joined = <A, E>(fiber: Fiber.Fiber<A, E>) => Effect.timeout(Fiber.join(fiber), "10 seconds")

/** Waits, at most 5 s, until a process is gone. */
export const gone = (pid: number) =>
  Effect.sync(() => {
    try {
      process.kill(pid, 0)
      return false
    } catch {
      return true
    }
  }).pipe(Effect.delay("20 millis"), Effect.repeat({ until: (isGone) => isGone, times: 250 }))
