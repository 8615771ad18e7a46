/**
 * Runs one command for the `shell` tool: `bash -c` in its own process group, without stdin, with a time limit. When the
 * command is over its group is ended too, so what it left in the background dies unless it called setsid.
 */
import { Clock, type Duration, Effect, Fiber, FileSystem, Path, Ref, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import * as OutputLimit from "./OutputLimit.ts"
import * as ShellResult from "./ShellResult.ts"

/** Arguments of the tool. */
export const ShellArguments = Schema.Struct({
  command: Schema.String,
  workdir: Schema.optionalKey(Schema.String),
  timeout_ms: Schema.optionalKey(Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: 600_000 }))))
})
export type ShellArguments = typeof ShellArguments.Type

/** The limit when the model names none. */
export const DEFAULT_TIMEOUT_MILLIS = 120_000
/** Longer commands are refused: they would not fit an argument list safely. */
const MAX_COMMAND_BYTES = 1_000_000
/** Artifacts beyond this number push out the oldest. */
const MAX_ARTIFACTS = 8

const TERM_TO_KILL: Duration.Input = "200 millis"
/** A process that left the group may hold the pipe open for ever; its output after this time is not ours. */
const OUTPUT_AFTER_EXIT: Duration.Input = "500 millis"

/** The command could not be run at all; the model gets the text as a tool error. */
export class ShellRefused extends Schema.TaggedError<ShellRefused>()("ShellRefused", { detail: Schema.String }) {
  override get message(): string {
    return this.detail
  }
}

/** Where commands run and what they see. */
export interface ShellEnvironment {
  readonly cwd: string
  /** The complete environment of every command. */
  readonly env: Readonly<Record<string, string>>
  /** Holds the artifacts; owned by the server. */
  readonly artifacts: string
}

/** The tool, over one environment. Interrupting a call ends its process group. */
export const make = Effect.fnUntraced(function* (environment: ShellEnvironment) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const saved = yield* Ref.make<{ readonly count: number; readonly files: ReadonlyArray<string> }>({
    count: 0,
    files: []
  })

  const save = Effect.fnUntraced(function* (captured: OutputLimit.Captured, name: string) {
    if (!OutputLimit.isTruncated(captured)) return { captured, artifact: undefined }
    const { count, files } = yield* Ref.get(saved)
    const file = path.join(environment.artifacts, `${count + 1}.${name}.txt`)
    yield* fileSystem.writeFile(file, OutputLimit.artifact(captured))
    const kept = [...files, file]
    for (const old of kept.slice(0, -MAX_ARTIFACTS)) yield* fileSystem.remove(old, { force: true })
    yield* Ref.set(saved, { count: count + 1, files: kept.slice(-MAX_ARTIFACTS) })
    return { captured, artifact: file }
  })

  const capture = Effect.fnUntraced(function* (output: ChildProcessSpawner.ChildProcessHandle["stdout"]) {
    const captured = yield* Ref.make(OutputLimit.empty)
    const reading = yield* Effect.forkScoped(
      Stream.runForEach(output, (chunk) => Ref.update(captured, (before) => OutputLimit.append(before, chunk)))
    )
    return { captured, reading }
  })

  const execute = Effect.fnUntraced(function* (args: ShellArguments) {
    const timeout = args.timeout_ms ?? DEFAULT_TIMEOUT_MILLIS
    const startedAt = yield* Clock.currentTimeMillis
    const handle = yield* spawner.spawn(
      ChildProcess.make("bash", ["-c", args.command], {
        cwd: path.resolve(environment.cwd, args.workdir ?? "."),
        env: environment.env,
        stdin: "ignore",
        killSignal: "SIGTERM",
        forceKillAfter: TERM_TO_KILL
      })
    )
    const stdout = yield* capture(handle.stdout)
    const stderr = yield* capture(handle.stderr)
    const end = yield* handle.exitCode.pipe(
      Effect.match({
        onSuccess: (code): ShellResult.ShellEnd => ({ _tag: "Exited", code }),
        // The only failure of a process that was spawned is the signal that ended it.
        onFailure: (): ShellResult.ShellEnd => ({ _tag: "Signalled" })
      }),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.succeed<ShellResult.ShellEnd>({ _tag: "TimedOut", afterMillis: timeout })
      })
    )
    const durationMillis = (yield* Clock.currentTimeMillis) - startedAt
    // Fails when nobody is left in the group, which is what we want.
    yield* Effect.ignore(handle.kill({ killSignal: "SIGTERM", forceKillAfter: TERM_TO_KILL }))
    yield* Effect.forEach([stdout, stderr], ({ reading }) => Fiber.await(reading), {
      concurrency: 2,
      discard: true
    }).pipe(Effect.timeoutOption(OUTPUT_AFTER_EXIT))
    return ShellResult.render({
      end,
      durationMillis,
      stdout: yield* save(yield* Ref.get(stdout.captured), "stdout"),
      stderr: yield* save(yield* Ref.get(stderr.captured), "stderr")
    })
  }, Effect.scoped)

  return Effect.fn("ShellTool.run")(function* (args: ShellArguments) {
    const size = Buffer.byteLength(args.command)
    if (size > MAX_COMMAND_BYTES)
      return yield* new ShellRefused({ detail: `command is too long (${size} > ${MAX_COMMAND_BYTES} bytes)` })
    return yield* Effect.mapError(execute(args), (cause) => new ShellRefused({ detail: cause.message }))
  })
})
