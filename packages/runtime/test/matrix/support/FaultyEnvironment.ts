/**
 * The environment's double behind fault points, with the programs of `TestStack` in it. Commands are told apart by what is
 * peculiar to each; one that nobody knows here fails the case, so that no new call of the runtime goes without faults.
 */
import {
  CommandNotRun,
  EnvironmentError,
  EnvironmentLost,
  TransferFailed
} from "@buzz-orchestra/runtime/EnvironmentError"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { DEFAULT_LAYOUT } from "@buzz-orchestra/runtime/Layout"
import { exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { Effect, Layer } from "effect"
import type { FaultPoints } from "./FaultPoints.ts"
import type { Step } from "./FaultScript.ts"
import type { Team } from "./TeamPlay.ts"

/** Which call of the trial a command is. */
export const stepOf = (command: string): Step => {
  const found = MARKS.find(([, mark]) => mark.test(command))
  if (found === undefined) throw new Error(`no step of the matrix is this command:\n${command}`)
  return found[0]
}

const MARKS: ReadonlyArray<readonly [Step, RegExp]> = [
  ["launch", /setsid[^]*\/bin\//],
  ["make the layout", /^mkdir -p /],
  ["check digests", /sha256sum/],
  ["ask for certificates", /ca-certificates/],
  ["ask the relay", /Sec-WebSocket-Key: /],
  ["ask for proxies", /NO_PROXY/],
  ["probe the output", /hello\.txt/],
  ["ask how it ended", /\.exit/],
  ["ask for sizes", /for f in \*\.log/],
  ["snapshot", /\/proc\/\[0-9\]\*\/stat/],
  ["stop a program", /^\nalive\(\)/],
  ["send TERM", /kill -TERM/],
  ["send KILL", /kill -KILL/],
  ["list ports", /\/proc\/net\/tcp/]
]

const uploadOf = (target: string): Step => (target.endsWith("/buzz-evidence.json") ? "export the evidence" : "upload")

const NAME = "recording environment"

const notRun = (word: string) =>
  Effect.fail(
    new EnvironmentError({
      operation: "EnvironmentService.exec",
      reason: new CommandNotRun({ environment: NAME, action: "run a command", detail: word })
    })
  )

const notMoved = (direction: "upload" | "download", path: string) => (word: string) =>
  Effect.fail(
    new EnvironmentError({
      operation: `EnvironmentService.${direction}`,
      reason: new TransferFailed({ environment: NAME, direction, path, detail: word })
    })
  )

/** An environment that is gone. */
export const lost = (detail: string): EnvironmentError =>
  new EnvironmentError({
    operation: "EnvironmentService",
    reason: new EnvironmentLost({ environment: NAME, detail, exitCode: undefined })
  })

/** Programs are held from their launch to their end; the watch until its scope closes. */
export const environment = (
  points: FaultPoints,
  team: Team
): Layer.Layer<EnvironmentService, never, EnvironmentService> =>
  Layer.effect(
    EnvironmentService,
    Effect.gen(function* () {
      const inner = yield* EnvironmentService
      const alive = unlessLost(team)
      return EnvironmentService.of({
        ...inner,
        exec: (command, options) => {
          const step = stepOf(command)
          const run =
            step === "stop a program"
              ? Effect.as(team.onStop(Number(/kill -TERM (\d+)/.exec(command)?.[1])), exited(0))
              : inner.exec(command, options)
          const name = step === "launch" ? launchedBy(command) : ""
          const told = step === "launch" ? Effect.tap(run, () => team.onLaunch(name)) : run
          return alive(points.at(step, name, alive(told), notRun))
        },
        upload: (source, target, options) =>
          alive(points.at(uploadOf(target), target, inner.upload(source, target, options), notMoved("upload", target))),
        downloadDirectory: (source, target, limits) =>
          alive(
            points.at(
              "collect the artifacts",
              source,
              inner.downloadDirectory(source, target, limits),
              notMoved("download", source)
            )
          ),
        watch: (directory) =>
          alive(
            points
              .at("open the watch", directory, inner.watch(directory), notRun)
              .pipe((opening) => points.holding("watch", opening))
          )
      })
    })
  )

const unlessLost =
  (team: Team) =>
  <A, R>(call: Effect.Effect<A, EnvironmentError, R>): Effect.Effect<A, EnvironmentError, R> =>
    Effect.suspend(() => (team.isLost() ? Effect.fail(lost("its first process has ended")) : call))

const launchedBy = (command: string): string => /([^/']+)\.stdout\.log/.exec(command)?.[1] ?? ""

/** Keeps what programs print, and puts their logs where a download finds them. */
export const printing = (
  printed: Map<string, string>
): Layer.Layer<RecordingEnvironment, never, RecordingEnvironment> =>
  Layer.effect(
    RecordingEnvironment,
    RecordingEnvironment.useSync((inner) =>
      RecordingEnvironment.of({
        ...inner,
        pushWatch: (...events) =>
          Effect.andThen(
            Effect.forEach(events, (event) => {
              if (event._tag !== "LogBytes") return Effect.void
              const text = (printed.get(event.file) ?? "") + new TextDecoder().decode(event.bytes)
              printed.set(event.file, text)
              return inner.writeFile(`${DEFAULT_LAYOUT.logs}/${event.file}`, text)
            }),
            inner.pushWatch(...events)
          )
      })
    )
  )
