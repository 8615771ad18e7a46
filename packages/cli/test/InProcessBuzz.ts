/**
 * A `ChildProcessSpawner` whose processes are calls of the reference stack's `buzz` in this process: the same arguments,
 * environment, stdin, output and exit codes, without the cost of a process.
 */
import { answer } from "@buzz-orchestra/reference-stack/buzz/Buzz"
import { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import { Effect, Layer, Redacted, Result, Sink, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

/** One call as the process was started. Secrets of its environment are spelled out. */
export interface BuzzCall {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string | undefined>>
}

/** How a process ends. */
export interface End {
  readonly code: number
  readonly stdout?: string
  readonly stderr?: string
}

/** Takes the place of the program for one call, or leaves it (`undefined`). `but`: the call is made, its end is another. */
export type Instead = (call: BuzzCall) => End | { readonly but: End } | "hang" | undefined

/** The spawner, and the calls so far. */
export const inProcessBuzz = (instead: Instead = () => undefined) => {
  const calls: Array<BuzzCall> = []
  let killed = 0
  const layer = Layer.effect(
    ChildProcessSpawner.ChildProcessSpawner,
    Effect.map(Schnorr, (schnorr) =>
      ChildProcessSpawner.make(
        Effect.fnUntraced(function* (command) {
          if (!ChildProcess.isStandardCommand(command)) return yield* Effect.die("one command at a time")
          const { command: program, options } = command
          const args = command.args.map(plain)
          const env = Object.fromEntries(
            Object.entries(options.env ?? {}).map(([name, value]) => [name, value === undefined ? value : plain(value)])
          )
          const call = { program, args, env }
          calls.push(call)
          const stdin = async () =>
            Stream.isStream(options.stdin) ? Effect.runPromise(Stream.mkString(Stream.decodeText(options.stdin))) : ""
          const made = Effect.map(
            Effect.result(answer(args, env, stdin)),
            Result.match({
              onSuccess: (line): End => ({ code: 0, stdout: `${line}\n` }),
              onFailure: ({ code, stderr }): End => ({ code, stderr: `${stderr}\n` })
            })
          ).pipe(Effect.provideService(Schnorr, schnorr))
          const planned = instead(call)
          if (planned === "hang") yield* Effect.addFinalizer(() => Effect.sync(() => void (killed += 1)))
          const ended: Effect.Effect<End> =
            planned === "hang"
              ? Effect.never
              : planned === undefined
                ? Effect.succeed(yield* made)
                : "but" in planned
                  ? Effect.as(made, planned.but)
                  : Effect.succeed(planned)
          const end = yield* Effect.cached(ended)
          const output = (name: "stdout" | "stderr") =>
            Stream.unwrap(Effect.map(end, (it) => Stream.make(new TextEncoder().encode(it[name] ?? ""))))
          return ChildProcessSpawner.makeHandle({
            pid: ChildProcessSpawner.ProcessId(calls.length),
            exitCode: Effect.map(end, ({ code }) => ChildProcessSpawner.ExitCode(code)),
            isRunning: Effect.succeed(false),
            kill: () => Effect.void,
            stdin: Sink.drain,
            stdout: output("stdout"),
            stderr: output("stderr"),
            all: Stream.empty,
            getInputFd: () => Sink.drain,
            getOutputFd: () => Stream.empty,
            unref: Effect.succeed(Effect.void)
          })
        })
      )
    )
  )
  return { calls, layer, killed: () => killed }
}

const plain = (value: string | Redacted.Redacted<string>): string =>
  Redacted.isRedacted(value) ? Redacted.value(value) : value
