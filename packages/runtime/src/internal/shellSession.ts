/**
 * One persistent `sh` behind a byte duplex, running one command at a time. It only frames and collects: which shell runs
 * what, time limits and restarts belong to `Shell`.
 */
import { type Cause, Data, Deferred, Effect, Queue, Result, type Scope, Stream } from "effect"
import type { EnvironmentError } from "../EnvironmentError.ts"
import { type ByteDuplex, FAREWELL } from "../ByteDuplex.ts"
import { type HeadTail, makeHeadTail } from "./headTail.ts"
import { feedMarked, initialMarked, type MarkedState } from "./markedFrames.ts"
import { HAS_PROC } from "./processText.ts"
import { randomMarker } from "./randomMarker.ts"
import { type CommandText, Frame, mayLeaveProcesses, renderCommand } from "./shellText.ts"

export interface SessionOutput {
  readonly exitCode: number
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly omittedBytes: number
}

/** Why a command brought no output. */
export class SessionFailure extends Data.TaggedError("SessionFailure")<{
  /** `died`: the shell ended; `refused`: the command cannot be run; both with words for a person. */
  readonly kind: "died" | "refused"
  readonly detail: string
  /** Whether the command may have begun. */
  readonly begun: boolean
}> {}

export interface ShellSession {
  /** Process id of the shell inside the environment, and its process group there (0: outside of it). */
  readonly pid: number
  readonly group: number
  readonly isDead: () => boolean
  /**
   * Starts a command; nothing else may run on this session until `free` has been awaited. `output` is its result, `free`
   * says whether the shell may be used again: false once a process that was left behind holds its output, or it died.
   */
  readonly start: (
    request: Omit<CommandText, "id">,
    maxOutputBytes: number
  ) => {
    readonly output: Effect.Effect<SessionOutput, SessionFailure>
    readonly free: Effect.Effect<boolean>
  }
}

interface Running {
  readonly id: number
  readonly stdout: HeadTail
  readonly stderr: HeadTail
  readonly asksHeld: boolean
  readonly output: Deferred.Deferred<SessionOutput, SessionFailure>
  readonly free: Deferred.Deferred<boolean>
  begun: boolean
  collecting: { stdout: boolean; stderr: boolean }
  notRun: boolean
  exitCode: number | undefined
  stderrEnded: boolean
}

/** Opens a session over `duplex`; the scope ends its stdin and with that an idle shell. */
export const openSession = Effect.fnUntraced(function* (
  duplex: ByteDuplex
): Effect.fn.Return<ShellSession, SessionFailure | EnvironmentError, Scope.Scope> {
  const marker = yield* randomMarker
  const input = yield* Queue.make<Uint8Array, Cause.Done>()
  const state: { running: Running | undefined; dead: boolean; nextId: number } = {
    running: undefined,
    dead: false,
    nextId: 0
  }
  // What a program that is no shell has to say, such as `exec: "sh": not found`.
  const greeting = makeHeadTail(GREETING_BYTES)

  const silent = { stdout: yield* Deferred.make<void>(), stderr: yield* Deferred.make<void>() }
  const allSaid = Effect.andThen(Deferred.await(silent.stdout), Deferred.await(silent.stderr))

  const die = Effect.gen(function* () {
    state.dead = true
    const { running } = state
    if (running === undefined) return
    if (state.nextId > 1) return failRunning(running, "died", "the shell ended while the command ran")
    // The streams end in any order, and either may bring the words.
    yield* Effect.timeoutOption(allSaid, LAST_WORDS)
    const said = new TextDecoder().decode(greeting.bytes()).trim()
    failRunning(running, "died", `no shell could be started: ${said}`)
  })
  const follow = (stream: ByteDuplex["stdout"], name: "stdout" | "stderr") => {
    let marked: MarkedState = initialMarked(marker)
    return Stream.runForEach(stream, (chunk) =>
      Effect.sync(() => {
        const [next, tokens] = feedMarked(marked, chunk)
        marked = next
        for (const token of tokens) {
          const running = state.running
          if (running === undefined) continue
          if (token._tag === "Line") onLine(running, name, token.line)
          else if (running.collecting[name]) running[name].push(token.bytes)
          else if (running.id === 0 && !running.begun) greeting.push(token.bytes)
        }
      })
    ).pipe(
      Effect.exit,
      Effect.andThen(Deferred.succeed(silent[name], undefined)),
      Effect.andThen(die),
      Effect.forkScoped
    )
  }
  yield* Stream.fromQueue(input).pipe(Stream.run(duplex.stdin), Effect.exit, Effect.andThen(die), Effect.forkScoped)
  yield* follow(duplex.stdout, "stdout")
  yield* follow(duplex.stderr, "stderr")
  yield* Effect.addFinalizer(() =>
    Effect.andThen(Queue.end(input), Effect.timeoutOption(Effect.exit(duplex.exitCode), FAREWELL))
  )

  const start: ShellSession["start"] = (request, maxOutputBytes) => {
    const running = makeRunning(state.nextId++, request.command, maxOutputBytes)
    state.running = running
    const text = renderCommand(marker, { ...request, id: running.id })
    if (Result.isFailure(text)) failRunning(running, "refused", text.failure)
    else if (state.dead) failRunning(running, "died", "the shell has ended")
    else Queue.offerUnsafe(input, new TextEncoder().encode(text.success))
    return { output: Deferred.await(running.output), free: Deferred.await(running.free) }
  }

  // With CDPATH set, `cd` prints where it went.
  Queue.offerUnsafe(input, new TextEncoder().encode("unset CDPATH\n"))
  const hello = start({ command: HELLO, cwd: "/", env: {}, stdin: undefined }, 4096)
  const [pid = 0, group = 0] = new TextDecoder()
    .decode((yield* hello.output).stdout)
    .trim()
    .split(" ")
    .map(Number)
  return { pid, group, isDead: () => state.dead, start }
})

const GREETING_BYTES = 2048

/** How long the rest of what a program said is waited for; a process that it left behind may never let go of a stream. */
const LAST_WORDS = "1 second"

/** Prints the shell's own pid and process group; a subshell's `$$` is the shell's. */
const HELLO = `if ${HAS_PROC}; then read -r s </proc/$$/stat && s=\${s##*) } && set -- $s
else set -- - - $(ps -o pgid= -p $$ 2>/dev/null); fi
echo "$$ \${3:-0}"`

const makeRunning = (id: number, command: string, maxOutputBytes: number): Running => ({
  id,
  stdout: makeHeadTail(maxOutputBytes),
  stderr: makeHeadTail(maxOutputBytes),
  asksHeld: mayLeaveProcesses(command),
  output: Deferred.makeUnsafe(),
  free: Deferred.makeUnsafe(),
  begun: false,
  collecting: { stdout: false, stderr: false },
  notRun: false,
  exitCode: undefined,
  stderrEnded: false
})

const failRunning = (running: Running, kind: SessionFailure["kind"], detail: string): void => {
  Deferred.doneUnsafe(running.output, Effect.fail(new SessionFailure({ kind, detail, begun: running.begun })))
  Deferred.doneUnsafe(running.free, Effect.succeed(kind === "refused"))
}

/** A line of another id is an echo of a command before, and ignored. */
const onLine = (running: Running, stream: "stdout" | "stderr", line: string): void => {
  const [id, value] = line.slice(1).split(" ")
  if (Number(id) !== running.id) return
  switch (line[0]) {
    case Frame.begin:
      running.begun = true
      running.collecting[stream] = true
      return
    case Frame.notRun:
      running.notRun = true
      return
    case Frame.end:
      running.collecting[stream] = false
      if (stream === "stdout") running.exitCode = Number(value)
      else running.stderrEnded = true
      return finish(running)
    case Frame.held:
      Deferred.doneUnsafe(running.free, Effect.succeed(value !== "1"))
  }
}

const finish = (running: Running): void => {
  if (running.exitCode === undefined || !running.stderrEnded) return
  if (running.notRun) {
    const detail = new TextDecoder().decode(running.stderr.bytes()).trim()
    Deferred.doneUnsafe(running.output, Effect.fail(new SessionFailure({ kind: "refused", detail, begun: true })))
  } else {
    Deferred.doneUnsafe(
      running.output,
      Effect.succeed({
        exitCode: running.exitCode,
        stdout: running.stdout.bytes(),
        stderr: running.stderr.bytes(),
        omittedBytes: running.stdout.omitted() + running.stderr.omitted()
      })
    )
  }
  if (!running.asksHeld) Deferred.doneUnsafe(running.free, Effect.succeed(true))
}
