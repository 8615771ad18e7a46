/**
 * One case of the matrix: a whole trial over doubles that go wrong as the script says, in simulated time, and everything that
 * can be known about it afterwards.
 */
import type { Condition } from "@buzz-orchestra/manifest/Condition"
import * as TestManifest from "@buzz-orchestra/manifest/testing/TestManifest"
import type { ProvisioningError } from "@buzz-orchestra/relay/ProvisioningError"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import * as AgentSupervisorLive from "@buzz-orchestra/runtime/AgentSupervisorLive"
import { M1_CONDITION } from "@buzz-orchestra/runtime/OutputProbe"
import type { RuntimeLaunchError } from "@buzz-orchestra/runtime/RuntimeLaunchError"
import { FORWARDER, REQUIRED_PROGRAMS } from "@buzz-orchestra/runtime/StackFiles"
import * as StackInstallerLive from "@buzz-orchestra/runtime/StackInstallerLive"
import { exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { type TestProgram, TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { Trial, type TrialResult } from "@buzz-orchestra/runtime/Trial"
import type { TrialEvent } from "@buzz-orchestra/runtime/TrialEvent"
import { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import * as TrialLive from "@buzz-orchestra/runtime/TrialLive"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import * as TrialRuntimeLive from "@buzz-orchestra/runtime/TrialRuntimeLive"
import { Clock, Effect, Exit, Fiber, FileSystem, Layer, Option, Path, type PlatformError, Scope, Stream } from "effect"
import { FaultPoints, type Held } from "./FaultPoints.ts"
import type { FaultScript } from "./FaultScript.ts"
import * as Doubles from "./FaultyDoubles.ts"
import * as FaultyEnvironment from "./FaultyEnvironment.ts"
import { failure, MemoryFiles } from "../../support/MemoryFiles.ts"
import { type Remains, simulate } from "./Simulation.ts"
import { play } from "./TeamPlay.ts"

/** The trial directory. */
export const DIRECTORY = "/work/trial"

/** How long a person waits before interrupting a trial that does not end by itself. */
const PATIENCE = "15 minutes"

/** What is written down while a case runs. */
interface Notes {
  readonly points: FaultPoints
  readonly files: MemoryFiles
  readonly events: Array<TrialEvent>
  /** What the programs printed, by log. */
  readonly printed: Map<string, string>
}

/** Everything that is known about a case when it is over. */
export interface Case extends Notes {
  readonly script: FaultScript
  /** `undefined` when the trial never ended, although it was interrupted. */
  readonly exit: Exit.Exit<TrialResult, RuntimeLaunchError | ProvisioningError> | undefined
  /** When it ended, in milliseconds of the clock; what is said of that moment was so when the trial returned. */
  readonly endedAt: number
  readonly heldAtEnd: ReadonlyArray<Held>
  readonly openFilesAtEnd: ReadonlyArray<string>
  readonly programsAtEnd: ReadonlyMap<string, TestProgram>
  readonly remains: Remains
}

/** Runs the case. */
export const runCase = (script: FaultScript): Case => {
  const points = new FaultPoints(script)
  const files = new MemoryFiles((call, path) =>
    points.at(DISK_STEPS[call], path, NOTHING, (word) => Effect.fail(failure(path, word)))
  )
  const notes: Notes = { points, files, events: [], printed: new Map() }
  const { exit, remains } = simulate(trialOf(script, notes), {
    seed: script.seed,
    beforeTask: (count) => count === script.interruptAtTask && points.stopNow()
  })
  if (exit === undefined) throw new Error("the case itself never ended")
  if (exit._tag === "Failure") throw new Error(`the case itself failed: ${exit.cause}`)
  return { script, ...notes, remains, ...exit.value }
}

const DISK_STEPS = { write: "write a document", append: "append to a log", read: "read a file" } as const

const NOTHING: Effect.Effect<void, PlatformError.PlatformError> = Effect.void

const trialOf = Effect.fnUntraced(function* (script: FaultScript, notes: Notes) {
  const { files, points } = notes
  const options = optionsOf(script, files)
  const around = yield* Scope.make()
  const context = yield* Layer.build(world(script, notes, around)).pipe(Scope.provide(around))
  return yield* Effect.gen(function* () {
    const trial = yield* Trial
    const stack = yield* TestStack
    const fiber = yield* Effect.forkDetach(trial.run(options))
    points.interrupt = () => fiber.interruptUnsafe()
    points.now = yield* Clock.clockWith((clock) => Effect.succeed(() => clock.currentTimeMillisUnsafe()))
    if (script.interruptAt !== undefined) yield* Effect.forkIn(Effect.delay(points.stop, script.interruptAt), around)
    const patiently = Effect.timeoutOption(Fiber.await(fiber), PATIENCE)
    const first = yield* patiently
    const exit = Option.isSome(first) ? first : yield* Effect.andThen(points.stop, patiently)
    const ended = {
      exit: Option.getOrUndefined(exit),
      endedAt: yield* Clock.currentTimeMillis,
      heldAtEnd: [...points.held],
      openFilesAtEnd: files.openFiles,
      programsAtEnd: yield* stack.programs
    }
    yield* Scope.close(around, Exit.void)
    return ended
  }).pipe(Effect.provideContext(context))
})

/** Everything around `Trial` is a double, everything inside is real. */
const world = (script: FaultScript, { events, files, points, printed }: Notes, around: Scope.Scope) => {
  const telling = Layer.succeed(TrialEvents, {
    publish: (happening) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        events.push({ at, ...happening })
        if (happening._tag === "PhaseStarted") points.phase = happening.phase
      }),
    stream: Stream.empty
  })
  const moved = Layer.unwrap(
    Effect.map(play(script, around), (team) =>
      Layer.mergeAll(FaultyEnvironment.environment(points, team), Doubles.client(points, team.onTask))
    )
  )
  return TrialLive.layer.pipe(
    Layer.provide(TrialRuntimeLive.layer),
    Layer.provide([AgentSupervisorLive.layer, StackInstallerLive.layer]),
    Layer.provide([moved, Doubles.observer(points), Doubles.provisioner(points), Doubles.manifests(points)]),
    Layer.provideMerge(Layer.mergeAll(telling, TestStack.layerWith({ ready: false }))),
    Layer.provideMerge(FaultyEnvironment.printing(printed)),
    Layer.provideMerge(RecordingEnvironment.layer({ answers: [probe] })),
    Layer.provide(Layer.mergeAll(TestRelay.layer, MANIFESTS)),
    Layer.provideMerge(Layer.mergeAll(Layer.sync(FileSystem.FileSystem, files.service), Path.layer))
  )
}

const MANIFESTS = TestManifest.layerMemory({ "/artifacts/prompt.md": TestManifest.PROMPT_TEXT })

/** The file that the condition of a probed case asks for. */
const probe = (command: string) =>
  command.includes("hello.txt") ? exited(0, { stdout: "Hello, world!\n" }) : undefined

const STACK = "/stack"

/** As many agents as the script has fates, on the relay of the doubles. */
const optionsOf = (script: FaultScript, files: MemoryFiles): TrialOptions => {
  for (const name of [...REQUIRED_PROGRAMS, FORWARDER]) files.put(`${STACK}/${name}`, `#!/bin/sh\n# ${name}\n`)
  files.put(`${STACK}/ca.pem`, "certificates")
  const workers = script.fates.length - 1
  return {
    condition: conditionOf(script.probed, workers),
    artifactRoot: "/artifacts",
    endpoints: { "test-model": { provider: "anthropic", api_key_env: "ANTHROPIC_API_KEY" } },
    apiKeys: { "test-model": undefined },
    instruction: "write hello.txt",
    runId: "run",
    trialId: "11111111-2222-4333-8444-555555555555",
    relayUrl: "ws://localhost:3600",
    stack: {
      programs: Object.fromEntries(REQUIRED_PROGRAMS.map((name) => [name, `${STACK}/${name}`])),
      forwarder: `${STACK}/${FORWARDER}`,
      caBundle: `${STACK}/ca.pem`
    },
    directory: DIRECTORY,
    sweep: script.sweepAll ? "all" : "stack",
    ...(script.graded ? { evidenceFor: "task" } : {}),
    ...(script.forwarder ? { relayGateway: "gateway:3600" } : {})
  }
}

const conditions = new Map<string, Condition>()

/** Reading a manifest takes longer than a case. */
const conditionOf = (probed: boolean, workers: number): Condition => {
  const key = `${probed} ${workers}`
  const condition =
    conditions.get(key) ??
    TestManifest.conditionWith({
      condition: probed ? M1_CONDITION : "test",
      roster: [{ id: "lead" }, ...(workers === 0 ? [] : [{ id: "worker", count: workers }])]
    })
  conditions.set(key, condition)
  return condition
}
