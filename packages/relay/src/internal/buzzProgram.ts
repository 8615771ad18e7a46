/** Runs the `buzz` program: one command per call, secrets by environment only, bounded in time, ended with its caller. */
import { Duration, Effect, Result, Stream } from "effect"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import type { Actor } from "../BuzzClient.ts"
import { BuzzProgramFailed, type RelayReason } from "../RelayError.ts"
import { toHttp } from "../RelayUrl.ts"
import * as Reply from "./programReply.ts"

/** How it is run. */
export interface BuzzProgramOptions {
  /** Path, or a name on `path`. */
  readonly program: string
  /** The program's own `PATH`; nothing else of this process's environment is passed on. */
  readonly path: string | undefined
  /** For one call. */
  readonly timeout: Duration.Duration
}

/** One call. `content` goes to stdin, where the argument is `-`. */
export interface BuzzCall {
  readonly args: ReadonlyArray<string>
  readonly content?: string
}

/** A call's end and who made it. */
export interface Answer {
  readonly called: Reply.Called
  readonly value: unknown
}

type Spawner = ChildProcessSpawner.ChildProcessSpawner["Service"]

/** The JSON value that the command prints. One attempt: what is tried again is the caller's business. */
export const call = Effect.fnUntraced(function* (
  spawner: Spawner,
  options: BuzzProgramOptions,
  actor: Actor,
  { args, content }: BuzzCall
): Effect.fn.Return<Answer, RelayReason> {
  const { authTag, pubkey, secretKey } = actor.identity
  const url = yield* Effect.fromResult(toHttp(actor.relayUrl))
  const called: Reply.Called = { program: options.program, url, pubkey }
  const env = {
    BUZZ_RELAY_URL: url,
    BUZZ_PRIVATE_KEY: secretKey,
    ...(authTag === undefined ? {} : { BUZZ_AUTH_TAG: authTag })
  }
  const ended = yield* run(spawner, options, { args, env, content })
  return { called, value: yield* Effect.fromResult(Reply.valueOf(called, ended)) }
})

/** What `args` prints as text, such as help; it names no identity and no relay. */
export const textOf = (spawner: Spawner, options: BuzzProgramOptions, args: ReadonlyArray<string>) =>
  Effect.flatMap(run(spawner, options, { args, env: {}, content: undefined }), ({ code, stdout }) =>
    Effect.fromResult(
      code === 0
        ? Result.succeed(stdout)
        : Result.fail(
            new BuzzProgramFailed({ program: options.program, detail: `exit code ${code} for ${args.at(-1)}` })
          )
    )
  )

interface Run {
  readonly args: ReadonlyArray<string>
  readonly env: ChildProcess.CommandOptions["env"]
  readonly content: string | undefined
}

const run = (spawner: Spawner, { path, program, timeout }: BuzzProgramOptions, { args, content, env }: Run) =>
  Effect.gen(function* () {
    const child = yield* spawner.spawn(
      ChildProcess.make(program, args, {
        env: { ...env, ...(path === undefined ? {} : { PATH: path }) },
        stdin: content === undefined ? "ignore" : Stream.make(new TextEncoder().encode(content)),
        // Closing the scope ends it: after an answer, a time-out, or an interruption of the caller.
        forceKillAfter: KILL_AFTER
      })
    )
    const { code, stderr, stdout } = yield* Effect.all(
      { code: child.exitCode, stdout: text(child.stdout), stderr: text(child.stderr) },
      { concurrency: "unbounded" }
    )
    const ended: Reply.Ended = { code, stdout, stderr }
    return ended
  }).pipe(
    Effect.scoped,
    Effect.mapError((cause) => new BuzzProgramFailed({ program, detail: "it could not be run", cause })),
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () =>
        Effect.fail(new BuzzProgramFailed({ program, detail: `no answer within ${Duration.format(timeout)}` }))
    })
  )

/** For a program that does not heed TERM. */
const KILL_AFTER = "2 seconds"

const text = <E>(bytes: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(bytes))
