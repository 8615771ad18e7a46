/**
 * From what was asked for to a container that runs: made from an image, or found.
 */
import { Clock, Duration, Effect, type FileSystem, Option, type Path, type Scope } from "effect"
import { EnvironmentError, ShellMissing } from "../../EnvironmentError.ts"
import { DEFAULT_LAYOUT } from "../../Layout.ts"
import { ContainerEngine, type ContainerState, type ImageFacts } from "../ContainerEngine.ts"
import { lossDetail } from "../ContainerLoss.ts"
import type { ContainerMount, ContainerSpec, TemporaryMount } from "../ContainerSpec.ts"
import type { DockerEnvironmentOptions } from "../DockerEnvironmentOptions.ts"
import type { EngineError } from "../EngineError.ts"
import { HostProcess } from "../HostProcess.ts"
import { buildImage } from "../ImageBuild.ts"
import { type Owner, toLabels } from "../OwnerLabels.ts"
import { cacheStack } from "../StackCache.ts"
import { LOGS_DIRECTORY, namesWorkDirectory, TESTS_DIRECTORY, workDirectoryOf } from "./containerPlaces.ts"
import { IDLE_SIGNAL, idleCommand } from "./idleScript.ts"
import { notCreated, notCreatedAs, OPERATION } from "./notCreated.ts"
import { ownContainer } from "./ownContainer.ts"
import { randomName } from "./randomName.ts"

/** A container, and what is known of where it comes from. */
export interface FoundContainer {
  readonly id: string
  /** Names it in errors. */
  readonly label: string
  readonly created: boolean
  /** Its image as it was named; absent when only its id is known. */
  readonly reference?: string
  /** Of its image, as `uname -m` names it. */
  readonly architecture?: string
  readonly timeLimitSeconds: number | undefined
  readonly limitations: ReadonlyArray<string>
  /** Says why it does not run. */
  readonly endedAtOnce: (state: ContainerState | undefined) => Effect.Effect<never, EnvironmentError>
}

const DEFAULT_TIME_LIMIT = Duration.days(1)

/** The scope owns a container that is made. */
export const findContainer = (
  options: DockerEnvironmentOptions
): Effect.Effect<
  FoundContainer,
  EnvironmentError,
  ContainerEngine | HostProcess | FileSystem.FileSystem | Path.Path | Scope.Scope
> =>
  Effect.gen(function* () {
    const { source } = options
    switch (source._tag) {
      case "Container":
        return yield* existing(source.id)
      case "Image":
        return yield* made(options, source.reference)
      case "Dockerfile": {
        const built = yield* buildImage({
          directory: source.directory,
          owner: yield* ownerOf(options),
          onProgress: options.onProgress ?? (() => Effect.void)
        }).pipe(Effect.mapError(notCreated(`the image of ${source.directory}`)))
        return yield* made(options, built.reference)
      }
    }
  })

const ownerOf = Effect.fnUntraced(function* ({ runId, trialId }: DockerEnvironmentOptions) {
  const { self } = yield* HostProcess
  const created = new Date(yield* Clock.currentTimeMillis).toISOString()
  const owner: Owner = { ...self, run: runId, trial: trialId, created }
  return owner
})

const existing = Effect.fnUntraced(function* (id: string) {
  const engine = yield* ContainerEngine
  const label = `container ${id}`
  const failed = Effect.mapError(notCreated(label))
  const state = yield* failed(engine.inspectContainer(id))
  const endedAtOnce = (now: ContainerState | undefined) =>
    Effect.fail(
      notCreatedAs(label, now === undefined ? "there is none" : now.paused ? "it is paused" : "it does not run")
    )
  if (state === undefined) return yield* endedAtOnce(state)
  if (state.sharesProcesses !== undefined) {
    const detail = `it has the processes of ${state.sharesProcesses}, which nobody could tell from a trial's when those are ended`
    return yield* notCreatedAs(label, `${detail}; start it with processes of its own`)
  }
  const image = yield* failed(engine.inspectImage(state.image))
  const found: FoundContainer = {
    id: state.id,
    label: `container ${state.name}`,
    created: false,
    ...(image === undefined ? {} : { architecture: image.architecture }),
    timeLimitSeconds: undefined,
    limitations: ["The container was there before: other processes and earlier files may be in it."],
    endedAtOnce
  }
  return found
})

const made = Effect.fnUntraced(function* (options: DockerEnvironmentOptions, reference: string) {
  const engine = yield* ContainerEngine
  const name = containerName(options.trialId, yield* randomName)
  const label = `container ${name}`
  const image = yield* Effect.mapError(engine.inspectImage(reference), notCreated(label))
  if (image === undefined) {
    const detail = `the engine at ${engine.facts.address} has no image ${reference}; pull or build it first`
    return yield* notCreatedAs(label, detail)
  }
  const limit = Duration.fromInputUnsafe(options.timeLimit ?? DEFAULT_TIME_LIMIT)
  const timeLimitSeconds = Math.max(1, Math.ceil(Duration.toSeconds(limit)))
  const labels = toLabels(yield* ownerOf(options))
  const spec = specOf(options, { name, reference, image, labels, timeLimitSeconds })
  const stack = yield* stackMounts(options)
  const own = yield* ownContainer({ ...spec, mounts: [...spec.mounts, ...stack] }).pipe(
    // An engine that sees another file system than this process: the stack is uploaded instead.
    Effect.catchIf(
      (error) => stack.length > 0 && isAboutMount(error),
      () => ownContainer(spec)
    ),
    Effect.mapError(notStarted(label, image))
  )
  const found: FoundContainer = {
    id: own.id,
    label,
    created: true,
    reference,
    architecture: image.architecture,
    timeLimitSeconds,
    limitations: own.warnings,
    endedAtOnce: (state) => Effect.fail(notCreatedAs(label, whyEnded(state, image, timeLimitSeconds, engine.facts)))
  }
  return found
})

/** An engine takes no other characters, and two at least. */
const containerName = (trialId: string, random: string): string =>
  `buzz-${trialId.replaceAll(/[^A-Za-z0-9_.-]+/g, "-").slice(0, 40)}-${random}`

interface Making {
  readonly name: string
  readonly reference: string
  readonly image: ImageFacts
  readonly labels: Readonly<Record<string, string>>
  readonly timeLimitSeconds: number
}

const specOf = (options: DockerEnvironmentOptions, making: Making): ContainerSpec => ({
  name: making.name,
  image: making.reference,
  command: idleCommand(making.timeLimitSeconds),
  stopSignal: IDLE_SIGNAL,
  labels: making.labels,
  limits: options.limits ?? {},
  network: options.network ?? "public",
  init: options.init ?? false,
  environment: options.environment ?? {},
  mounts: options.mounts ?? [],
  temporary: temporaryMounts(options, making.image),
  user: options.user,
  readOnlyRoot: options.readOnlyRoot ?? false,
  extraHosts: options.extraHosts ?? []
})

/** Where a trial writes. The image's own work directory stays as it is: the task's files are in it. */
const temporaryMounts = (options: DockerEnvironmentOptions, image: ImageFacts): ReadonlyArray<TemporaryMount> => {
  const asked = options.temporary ?? []
  if (options.readOnlyRoot !== true) return asked
  const work = namesWorkDirectory(image.workDirectory) ? [] : [workDirectoryOf(image)]
  const needed = ["/tmp", "/run", DEFAULT_LAYOUT.root, LOGS_DIRECTORY, TESTS_DIRECTORY, ...work]
  const taken = new Set([...asked, ...(options.mounts ?? [])].map(({ target }) => target))
  return [...asked, ...needed.filter((target) => !taken.has(target)).map((target) => ({ target }))]
}

/** Programs and certificates. A stack that cannot be read is not mounted; installing it says what is wrong with it. */
const stackMounts = Effect.fnUntraced(function* ({ mounts: asked = [], stack }: DockerEnvironmentOptions) {
  const engine = yield* ContainerEngine
  // Nothing can be mounted below what is read-only.
  const isTaken = asked.some(({ target }) =>
    [DEFAULT_LAYOUT.bin, DEFAULT_LAYOUT.caBundle].some((place) => `${target}/`.startsWith(`${place}/`))
  )
  if (stack === undefined || isTaken || !engine.facts.local) return []
  const cached = yield* Effect.option(cacheStack(stack))
  if (Option.isNone(cached)) return []
  const { caBundle, directory } = cached.value
  const mounts: ReadonlyArray<ContainerMount> = [
    { source: directory, target: DEFAULT_LAYOUT.bin, readOnly: true },
    { source: caBundle, target: DEFAULT_LAYOUT.caBundle, readOnly: true }
  ]
  return mounts
})

const isAboutMount = (error: EngineError): boolean =>
  error._tag === "EngineRefused" && /bind source path does not exist|statfs .*no such file/i.test(error.detail)

/** What an engine says about our own PID 1 is about something that the user never asked for. */
const notStarted =
  (environment: string, image: ImageFacts) =>
  (error: EngineError): EnvironmentError => {
    const detail = error._tag === "EngineRefused" ? error.detail : ""
    if (/exec format error/i.test(detail)) return notCreatedAs(environment, `${wrongMachine(image)}: ${detail}`, error)
    return /exec: \\?"sh\\?"|executable file [`'"]?sh[`'"]? not found/i.test(detail)
      ? new EnvironmentError({ operation: OPERATION, reason: new ShellMissing({ environment, detail }) })
      : notCreated(environment)(error)
  }

const wrongMachine = ({ architecture, operatingSystem }: ImageFacts): string =>
  `the image is built for ${operatingSystem} on ${architecture}, which this engine's machine cannot run`

const whyEnded = (
  state: ContainerState | undefined,
  image: ImageFacts,
  timeLimitSeconds: number,
  { architecture, flavor }: ContainerEngine["Service"]["facts"]
): string => {
  if (image.architecture !== architecture) return wrongMachine(image)
  const detail = lossDetail({ flavor, state, outOfMemory: false, timeLimitSeconds })
  return state?.exitCode === undefined ? detail : `${detail} at once (exit code ${state.exitCode})`
}
