/**
 * What the integration tests share: the built programs, started as processes whose output can be waited for.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ReferenceStack from "@buzz-orchestra/reference-stack/ReferenceStack"
import { Deferred, Effect, Fiber, FileSystem, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { randomInt } from "node:crypto"
import { createServer } from "node:net"

/** The directory of the built programs: looked up once, not for each of the many that are started. */
export const programDirectory: Promise<string> = Effect.runPromise(
  Effect.provide(ReferenceStack.directory, NodeServices.layer)
)

/** Path of a built program. */
export const programPath = (name: ReferenceStack.ProgramName) =>
  Effect.map(
    Effect.promise(() => programDirectory),
    (directory) => `${directory}/${name}`
  )

/** What was printed so far. */
export interface Output {
  readonly output: () => string
  /** Waits, at most 30 s, until `text` was printed (`times` times). Returns everything printed so far. */
  awaitOutput(text: string, times?: number): Effect.Effect<string>
}

/** A running program with what it prints on stdout and stderr. */
export interface Running extends Output {
  readonly pid: number
  readonly exitCode: Effect.Effect<number, unknown>
}

/** What every program is started with: where to find others, and where Node keeps what it compiled before. */
export const BASE_ENVIRONMENT: Record<string, string> = Object.fromEntries(
  ["PATH", "NODE_COMPILE_CACHE"].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
)

/** Collects a text for as long as the scope lasts. */
export const collect = Effect.fnUntraced(function* (text: Stream.Stream<string, unknown>) {
  let all = ""
  const waiting = new Set<{ readonly isMet: () => boolean; readonly found: Deferred.Deferred<string> }>()
  yield* text.pipe(
    Stream.runForEach((chunk) =>
      Effect.sync(() => {
        all += chunk
        for (const wait of waiting) if (wait.isMet()) Deferred.doneUnsafe(wait.found, Effect.succeed(all))
      })
    ),
    Effect.forkScoped
  )
  const awaitOutput = (text: string, times = 1) =>
    Effect.gen(function* () {
      const isMet = () => all.split(text).length > times
      if (isMet()) return all
      const wait = { isMet, found: yield* Deferred.make<string>() }
      waiting.add(wait)
      return yield* Deferred.await(wait.found)
    }).pipe(
      Effect.timeoutOrElse({
        duration: "30 seconds",
        orElse: () => Effect.die(new Error(`no ${JSON.stringify(text)} within 30 s in:\n${all}`))
      })
    )
  const collected: Output = { output: () => all, awaitOutput }
  return collected
})

/** Starts `command` with the base and exactly this environment; closing the scope ends its process group. */
export const start = (
  command: string,
  args: ReadonlyArray<string>,
  options: { readonly env?: Record<string, string>; readonly cwd?: string } = {}
) =>
  Effect.gen(function* () {
    const handle = yield* ChildProcess.make(command, args, {
      stdin: "pipe",
      env: { ...BASE_ENVIRONMENT, ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      killSignal: "SIGTERM",
      forceKillAfter: "2 seconds"
    })
    const { awaitOutput, output } = yield* collect(Stream.decodeText(handle.all))
    const running: Running = { pid: handle.pid, output, awaitOutput, exitCode: handle.exitCode }
    return running
  })

/** A port that nobody uses right now: none that the system gives to others, who could have it before it is used here. */
export const freePort: Effect.Effect<number> = Effect.callback<number, Error>((resume) => {
  const port = randomInt(10_000, 20_000)
  const server = createServer()
  server.once("error", (error) => resume(Effect.fail(error)))
  server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(port))))
}).pipe(Effect.retry({ times: 20 }), Effect.orDie)

/**
 * For tests that start processes. They mostly wait, so those of a file run beside each other; they take a second or two,
 * unless the machine is busy with other things.
 */
export const SLOW = { timeout: 90_000, concurrent: true }

/** Everything that starts processes needs this. */
export const layer = NodeServices.layer

/** Joins a fiber, at most 10 s. */
export const joined = <A, E>(fiber: Fiber.Fiber<A, E>) => Effect.timeout(Fiber.join(fiber), "10 seconds")

/** Waits, at most 5 s, until a process is gone. A zombie is: who reaps it is not our business. */
export const gone = (pid: number) =>
  FileSystem.FileSystem.use((fileSystem) => fileSystem.readFileString(`/proc/${pid}/stat`)).pipe(
    Effect.match({ onFailure: () => true, onSuccess: (stat) => / Z /.test(stat.slice(stat.lastIndexOf(")"))) }),
    Effect.delay("20 millis"),
    Effect.repeat({ until: (isGone) => isGone, times: 250 })
  )

/** Processes that a process has started and that still live. */
export const children = (pid: number) =>
  Effect.map(
    FileSystem.FileSystem.use((fileSystem) => fileSystem.readFileString(`/proc/${pid}/task/${pid}/children`)),
    (text) => text.trim().split(" ").map(Number)
  )

/** The least that is an ACP agent: a script that answers `initialize`. */
export const LEAST_AGENT = `#!/bin/sh
read -r line
id=\${line#*'"id":'}
echo "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":\${id%%[!0-9]*},\\"result\\":{\\"protocolVersion\\":1}}"
while read -r line; do :; done
`
