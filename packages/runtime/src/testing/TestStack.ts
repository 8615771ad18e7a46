/**
 * Test facility: a stack that behaves in a `RecordingEnvironment`. Launched programs live, log and die as the test says;
 * commands of installer, supervisor, sweep and collector get the answers that a real environment gives.
 */
import { Context, Effect, Layer, Redacted, Ref } from "effect"
import type { ExecOptions, ExecResult } from "../EnvironmentService.ts"
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { FORWARDER } from "../StackFiles.ts"
import { exited, RecordingEnvironment, type RecordedFile } from "./RecordingEnvironment.ts"

/** A program that was launched. */
export interface TestProgram {
  readonly name: string
  readonly pid: number
  readonly alive: boolean
  /** As it was launched; secrets are still `Redacted`. */
  readonly env: ExecOptions["env"]
  /** The arguments after the program, as the launching command has them. */
  readonly command: string
}

/** How the programs behave from their start. */
export interface TestStackOptions {
  /** Whether agents say at once that they are subscribed, and the forwarder that it forwards. Default true. */
  readonly ready?: boolean
}

/** The test's side of the stack. */
export class TestStack extends Context.Service<
  TestStack,
  {
    /** Everything launched so far, by name; a program that was started again stands there as it is now. */
    readonly programs: Effect.Effect<ReadonlyMap<string, TestProgram>>
    /** A program prints a line, newline added. `stream` defaults to `stdout`. */
    print(name: string, line: string, stream?: "stdout" | "stderr"): Effect.Effect<void>
    /** An agent logs a record as `buzz-acp` does. */
    log(
      agentId: string,
      target: string,
      message: string,
      level?: "INFO" | "WARN" | "ERROR" | "DEBUG"
    ): Effect.Effect<void>
    /** An agent takes a turn: start, usage, end. */
    turn(agentId: string, usage?: { readonly input: number; readonly output: number }): Effect.Effect<void>
    /** A program ends by itself. `status` is what a shell calls it: 128 + n for signal n. */
    die(name: string, status: number): Effect.Effect<void>
    /** What the next launch of this program does instead of running: ends at once with this status, having said this. */
    failNext(name: string, status: number, said: string): Effect.Effect<void>
    /** From now on a program does not end by this signal: `TERM` alone, or `KILL` either. */
    resist(name: string, signal: "TERM" | "KILL"): Effect.Effect<void>
    /** The signals that sweeps have sent, oldest first, one entry for each time. */
    readonly signals: Effect.Effect<ReadonlyArray<{ readonly signal: string; readonly names: ReadonlyArray<string> }>>
  }
>()("@buzz-orchestra/runtime/testing/TestStack") {
  /** Installs its answers into the recording environment. */
  static readonly layerWith = (options: TestStackOptions = {}): Layer.Layer<TestStack, never, RecordingEnvironment> =>
    Layer.effect(
      TestStack,
      Effect.suspend(() => make(options))
    )

  static readonly layer = TestStack.layerWith()
}

/** The first pid; small numbers belong to the system. */
const FIRST_PID = 4242

interface Body {
  readonly program: TestProgram
  readonly status: number | undefined
  readonly bytes: Readonly<Record<"stdout" | "stderr", number>>
}

const make = Effect.fnUntraced(function* (options: TestStackOptions) {
  const environment = yield* RecordingEnvironment
  const bodies = yield* Ref.make<ReadonlyMap<string, Body>>(new Map())
  const failures = yield* Ref.make<ReadonlyMap<string, { readonly status: number; readonly said: string }>>(new Map())
  const pids = yield* Ref.make(FIRST_PID)
  const resisting = yield* Ref.make<ReadonlyMap<string, "TERM" | "KILL">>(new Map())
  const signals = yield* Ref.make<ReadonlyArray<{ readonly signal: string; readonly names: ReadonlyArray<string> }>>([])
  const seconds = yield* Ref.make(0)

  const change = (name: string, f: (body: Body) => Body) =>
    Ref.update(bodies, (all) => {
      const body = all.get(name)
      return body === undefined ? all : new Map([...all, [name, f(body)]])
    })

  const print = Effect.fnUntraced(function* (name: string, line: string, stream: "stdout" | "stderr" = "stdout") {
    const bytes = new TextEncoder().encode(`${line}\n`)
    const offset = (yield* Ref.get(bodies)).get(name)?.bytes[stream] ?? 0
    yield* change(name, (body) => ({ ...body, bytes: { ...body.bytes, [stream]: offset + bytes.length } }))
    yield* environment.pushWatch({ _tag: "LogBytes", file: `${name}.${stream}.log`, offset, bytes })
  })

  const log: TestStack["Service"]["log"] = Effect.fnUntraced(function* (agentId, target, message, level = "INFO") {
    const second = yield* Ref.updateAndGet(seconds, (n) => n + 1)
    const timestamp = new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString()
    yield* print(agentId, `${timestamp} ${level.padStart(5)} ${target}: ${message}`)
  })

  const die = Effect.fnUntraced(function* (name: string, status: number) {
    const body = (yield* Ref.get(bodies)).get(name)
    if (body === undefined || !body.program.alive) return
    yield* change(name, (body) => ({ ...body, status, program: { ...body.program, alive: false } }))
    yield* environment.pushWatch({ _tag: "ProcessDied", name, pid: body.program.pid })
  })

  const launch = Effect.fnUntraced(function* (name: string, command: string, { env }: ExecOptions) {
    const pid = yield* Ref.getAndUpdate(pids, (n) => n + 1)
    const program: TestProgram = { name, pid, alive: true, env, command }
    const bytes = (yield* Ref.get(bodies)).get(name)?.bytes ?? { stdout: 0, stderr: 0 }
    yield* Ref.update(bodies, (all) => new Map([...all, [name, { program, status: undefined, bytes }]]))
    const failure = (yield* Ref.get(failures)).get(name)
    // A program that ends at once is gone before the watch first looks.
    if (failure === undefined)
      yield* environment.pushWatch({ _tag: "ProcessSeen", name, pid, state: "S", startTime: `${pid}00` })
    if (failure !== undefined) {
      yield* Ref.update(failures, (all) => new Map([...all].filter(([other]) => other !== name)))
      yield* print(name, failure.said, "stderr")
      yield* die(name, failure.status)
    } else if (options.ready !== false) {
      yield* name === FORWARDER
        ? print(name, "forwarding 127.0.0.1:3600 -> gateway:3600")
        : log(name, "buzz_acp", `subscribed to channel ${channelOf(env)}`)
    }
    return exited(0, { stdout: `${pid} ${pid}00\n` })
  })

  /** Ends the programs with these pids, as far as they let it; prints the pids of the others. */
  const kill = Effect.fnUntraced(function* (signal: string, pids: ReadonlyArray<number>) {
    const all = yield* Ref.get(bodies)
    const hit = [...all.values()].filter(({ program }) => program.alive && pids.includes(program.pid))
    yield* Ref.update(signals, (sent) => [...sent, { signal, names: hit.map(({ program }) => program.name) }])
    const left: Array<number> = []
    for (const { program } of hit) {
      const limit = (yield* Ref.get(resisting)).get(program.name)
      if (limit === "KILL" || (limit === "TERM" && signal === "TERM")) left.push(program.pid)
      else yield* die(program.name, signal === "TERM" ? 143 : 137)
    }
    return exited(0, { stdout: left.map((pid) => `${pid}\n`).join("") })
  })

  yield* environment.answer((command, execOptions, files) => {
    const launched = launchOf(command)
    if (launched !== undefined) return launch(launched.name, launched.command, execOptions)
    const hashed = /^cd '([^']*)'[^]*sha256sum/.exec(command)?.[1]
    if (hashed !== undefined) return exited(0, { stdout: digests(files, hashed) })
    const exitOf = /printf 'exit %s\\n' "\$\(cat '[^']*\/([^/']+)\.exit'\)"/.exec(command)?.[1]
    if (exitOf !== undefined) return Effect.map(Ref.get(bodies), (all) => exitAnswer(exitOf, all.get(exitOf)))
    if (command.includes("for f in *.log"))
      return Effect.map(Ref.get(bodies), (all) =>
        exited(0, { stdout: [...all].map(([name, body]) => sizes(name, body)).join("") })
      )
    if (command.includes("Sec-WebSocket-Key: ")) return exited(0, { stdout: HANDSHAKE })
    const [, digits] = /^m='\\001([0-9a-f]+)'\n/.exec(command) ?? []
    if (digits !== undefined)
      return Effect.map(Ref.get(bodies), (all) => exited(0, { stdout: snapshot(`\u0001${digits}`, [...all.values()]) }))
    const [, left, signal] = /left='([0-9: ]*)'[^]*kill -(TERM|KILL) /.exec(command) ?? []
    if (left !== undefined && signal !== undefined)
      return kill(
        signal,
        left.split(" ").map((identity) => Number.parseInt(identity, 10))
      )
    return undefined
  })

  return TestStack.of({
    programs: Effect.map(
      Ref.get(bodies),
      (all) => new Map([...all].map(([name, { program }]) => [name, program] as const))
    ),
    print,
    log,
    turn: Effect.fnUntraced(function* (agentId, usage) {
      const channel = channelOf((yield* Ref.get(bodies)).get(agentId)?.program.env)
      yield* log(agentId, "pool::prompt", `turn starting for channel ${channel}`)
      const { input, output } = usage ?? { input: 100, output: 10 }
      const counters = `session_id="s-${agentId}" input=Some(${input}) output=Some(${output})`
      yield* log(agentId, "acp::usage", `goose usage update ${counters}`, "DEBUG")
      yield* log(agentId, "pool::prompt", `turn complete for channel ${channel}: end_turn`)
    }),
    die,
    failNext: (name, status, said) => Ref.update(failures, (all) => new Map([...all, [name, { status, said }]])),
    resist: (name, signal) => Ref.update(resisting, (all) => new Map([...all, [name, signal]])),
    signals: Ref.get(signals)
  })
})

/** What a relay answers to the key of RFC 6455 section 1.3, with which it is asked. */
const HANDSHAKE = "HTTP/1.1 101 Switching Protocols\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\n"

const channelOf = (env: ExecOptions["env"]): string => {
  const channel = env?.["BUZZ_ACP_CHANNELS"]
  return Redacted.isRedacted(channel) ? Redacted.value(channel) : (channel ?? "")
}

/** The program that a launching command starts, if it is one. Its text is quoted twice: a shell starts a shell. */
const launchOf = (command: string): { readonly name: string; readonly command: string } | undefined => {
  const once = command.replaceAll("'\\''", "'")
  const [, started, name] = /('[^\n']*\/bin\/[^\n]*) <\/dev\/null >>'[^']*\/([^/']+)\.stdout\.log'/.exec(once) ?? []
  return started === undefined || name === undefined ? undefined : { name, command: started }
}

const argv = ({ command }: TestProgram): ReadonlyArray<string> =>
  [...command.matchAll(/'([^']*)'/g)].map(([, word = ""]) => word)

const executable = (program: TestProgram): string => argv(program)[0] ?? "?"

/** What a sweep sees: each program is a child of PID 1 that runs from where it was launched. */
const snapshot = (marker: string, bodies: ReadonlyArray<Body>): string => {
  const alive = bodies.flatMap(({ program }) => (program.alive ? [program] : []))
  return [
    `${marker}shell\n9`,
    `${marker}bin\n`,
    `${marker}stat`,
    ...alive.map(({ name, pid }) => `${pid} (${name}) S 1 ${pid} ${pid} ${"0 ".repeat(15)}${pid}00 0`),
    `${marker}exe`,
    ...alive.map((program) => `lrwxrwxrwx 1 0 0 0 Jan 1 00:00 /proc/${program.pid}/exe -> ${executable(program)}`),
    ...alive.map((program) => `${marker}${program.pid}\n${argv(program).join("\0")}\0`)
  ].join("\n")
}

const exitAnswer = (name: string, body: Body | undefined): ExecResult =>
  exited(0, {
    stdout: body === undefined ? "" : `${body.status === undefined ? "" : `exit ${body.status}\n`}${sizes(name, body)}`
  })

const sizes = (name: string, { bytes }: Body): string =>
  `size ${bytes.stdout} ${name}.stdout.log\nsize ${bytes.stderr} ${name}.stderr.log\n`

/** As `sha256sum` prints them for the files of a directory. */
const digests = (files: ReadonlyMap<string, RecordedFile>, directory: string): string =>
  [...files]
    .flatMap(([path, { content }]) => {
      if (!path.startsWith(`${directory}/`)) return []
      const bytes = Redacted.isRedacted(content) ? Redacted.value(content) : content
      return [`${Sha256.sha256(bytes)}  ${path.slice(directory.length + 1)}\n`]
    })
    .join("")
