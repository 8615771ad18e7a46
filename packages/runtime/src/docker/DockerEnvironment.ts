/**
 * An environment in a container of Docker or Podman: one made for this trial from an image or a Dockerfile directory, or one
 * that exists already and is neither stopped nor removed by us. Small commands go through a persistent `exec -i sh`, the
 * watch is a second long-lived exec; everything above the three byte streams of an exec is shared with the local sandbox.
 */
import { Duration, Effect, Exit, FileSystem, Layer, Path, Scope } from "effect"
import type { OpenProcess } from "../ByteDuplex.ts"
import { CommandNotRun, EnvironmentError } from "../EnvironmentError.ts"
import { type EnvironmentFacts, EnvironmentService } from "../EnvironmentService.ts"
import { environmentOver } from "../internal/environmentOver.ts"
import { DEFAULT_LAYOUT } from "../Layout.ts"
import { ContainerEngine, type ContainerState } from "./ContainerEngine.ts"
import type { ContainerFacts } from "./ContainerFacts.ts"
import { type LossWatch, watchForLoss } from "./ContainerLoss.ts"
import type { DockerEnvironmentOptions } from "./DockerEnvironmentOptions.ts"
import type { HostProcess } from "./HostProcess.ts"
import { LOGS_DIRECTORY, TESTS_DIRECTORY, workDirectoryOf } from "./internal/containerPlaces.ts"
import { type FoundContainer, findContainer } from "./internal/findContainer.ts"
import { fullDiskIsLoss } from "./internal/fullDisk.ts"
import { guardContainer } from "./internal/guardContainer.ts"
import { registered } from "./internal/guardScript.ts"
import { notCreated } from "./internal/notCreated.ts"
import { parsePrepared, type Preparation, type Prepared, prepareScript } from "./internal/prepareContainer.ts"
import { canBridge, openBridge, parseAddress } from "./NetworkBridge.ts"
import { randomName } from "./internal/randomName.ts"
import { runOnce } from "./internal/runOnce.ts"

type Needs = ContainerEngine | HostProcess | FileSystem.FileSystem | Path.Path

/** The layer's scope owns a container that it made, and every process that it started in one that exists. */
export const layer = (options: DockerEnvironmentOptions): Layer.Layer<EnvironmentService, EnvironmentError, Needs> =>
  Layer.effect(EnvironmentService, make(options))

interface Place {
  readonly engine: ContainerEngine["Service"]
  readonly options: DockerEnvironmentOptions
  readonly found: FoundContainer
  readonly state: ContainerState
  /** Tells what is made in a container that stays from what others made there. */
  readonly suffix: string
}

const noAddress = (environment: string, address: string) =>
  new EnvironmentError({
    operation: "EnvironmentService.bridge",
    reason: new CommandNotRun({ environment, action: `bridge ${address}`, detail: "it is no host:port" })
  })

const make = Effect.fnUntraced(function* (
  options: DockerEnvironmentOptions
): Effect.fn.Return<EnvironmentService["Service"], EnvironmentError, Needs | Scope.Scope> {
  const engine = yield* ContainerEngine
  const found = yield* findContainer(options)
  const { id, label, timeLimitSeconds } = found
  const failed = Effect.mapError(notCreated(label))
  const loss = yield* failed(watchForLoss({ id, name: label, timeLimitSeconds }))
  // Asked after the watch has begun, so that no end falls between the two.
  const state = yield* failed(engine.inspectContainer(id))
  if (state === undefined || !state.running || state.paused) return yield* found.endedAtOnce(state)
  const open = openIn(engine, id, loss, options.user)
  const place: Place = { engine, found, options, state, suffix: found.created ? "" : `-${yield* randomName}` }
  const guard = found.created ? undefined : yield* guarded(place, open)
  const environment = yield* environmentOver(
    { name: `container ${state.name}`, open: guard?.open ?? open, lost: loss.lost },
    (run) => Effect.map(prepare(place, run), (prepared) => factsOf(place, prepared, guard?.limitations ?? []))
  ).pipe(
    // A container that ends at once may have been seen running.
    Effect.catchIf(isLost, () => Effect.flatMap(failed(engine.inspectContainer(id)), found.endedAtOnce))
  )
  return fullDiskIsLoss({ ...environment, ...(yield* bridgeOf(place)) })
})

/** The bridge into the container's network, where this process may enter it. */
const bridgeOf = Effect.fnUntraced(function* ({ engine, state }: Place) {
  if (!engine.facts.local || !(yield* canBridge(state.id, state.hostPid))) return {}
  const name = `container ${state.name}`
  const bridge = Effect.fn("EnvironmentService.bridge")(function* (from: string, to: string) {
    const [listen, target] = [parseAddress(from), parseAddress(to)]
    if (listen === undefined || target === undefined) return yield* noAddress(name, listen === undefined ? from : to)
    yield* openBridge({ environment: name, pid: state.hostPid, listen, target })
  })
  return { bridge }
})

const isLost = ({ reason }: EnvironmentError): boolean => reason._tag === "EnvironmentLost"

/** In a container that stays, what is started is ended by a guard inside when this process is gone without a word. */
const guarded = Effect.fnUntraced(function* (place: Place, open: OpenProcess) {
  // Where even an image whose root is read-only lets everybody write.
  const registry = `/dev/shm/buzz-processes${place.suffix}`
  const bins = [DEFAULT_LAYOUT.bin, ...homesOf(place).map((home) => `${home}/.buzz/bin`)]
  if (!(yield* guardContainer(open, { bins, registry })))
    return { open, limitations: ["What runs in it stays there when this program is killed."] }
  const openRegistered: OpenProcess = (argv, process) => open(registered(registry, argv), process)
  return { open: openRegistered, limitations: [] }
})

/** Every process ends for us when the container does, or is paused: its streams would say nothing for ever. */
const openIn =
  (engine: ContainerEngine["Service"], id: string, loss: LossWatch, owner: string | undefined): OpenProcess =>
  (argv, process) =>
    Effect.gen(function* () {
      const own = yield* Scope.fork(yield* Effect.scope)
      const user = process?.user ?? owner
      const duplex = yield* engine.exec(id, { argv, user }).pipe(
        Scope.provide(own),
        Effect.catch((error) => Effect.flatMap(loss.explain(error), Effect.fail))
      )
      yield* Effect.forkScoped(Effect.andThen(loss.lost, Scope.close(own, Exit.void)))
      return { ...duplex, exitCode: Effect.raceFirst(duplex.exitCode, Effect.flatMap(loss.lost, Effect.fail)) }
    })

const ROOT: ReadonlySet<string> = new Set(["", "0", "root", "0:0", "root:root", "0:root", "root:0"])

/** The first that can be written. */
const homesOf = ({ suffix }: Place): ReadonlyArray<string> => [`/tmp/buzz-home${suffix}`, `/dev/shm/buzz-home${suffix}`]

/** Longer means that the container does not work. */
const PREPARE_LIMIT = Duration.seconds(15)

/**
 * Makes the directories: through the environment's first shell where that is root's, else through one more process of root's.
 * Root may be refused; then the container's user makes what it can.
 */
const prepare = Effect.fnUntraced(function* (
  place: Place,
  run: (command: string) => Effect.Effect<string, EnvironmentError>
) {
  const { engine, found, options, state } = place
  const user = options.user ?? state.applied.user
  const preparation: Preparation = {
    user: ROOT.has(user) ? "" : user,
    created: found.created,
    workDirectory: workDirectoryOf(state),
    homes: homesOf(place),
    directories: [DEFAULT_LAYOUT.root, LOGS_DIRECTORY, TESTS_DIRECTORY]
  }
  if (preparation.user === "") return parsePrepared(yield* run(prepareScript(preparation)))
  const argv = ["sh", "-c", prepareScript(preparation)]
  const byRoot = yield* Effect.option(Effect.timeout(runOnce(engine, found.id, { argv, user: "0:0" }), PREPARE_LIMIT))
  if (byRoot._tag === "Some" && byRoot.value.exitCode === 0) return parsePrepared(byRoot.value.stdout)
  return parsePrepared(yield* run(prepareScript({ ...preparation, user: "" })))
})

const factsOf = (
  { engine, found, options, state }: Place,
  prepared: Prepared,
  limitations: ReadonlyArray<string>
): EnvironmentFacts => {
  const { address, flavor, version } = engine.facts
  const container: ContainerFacts = {
    id: state.id,
    engine: { flavor, version, address },
    image: { reference: found.reference ?? state.image, id: state.image },
    // Of a container that exists, the engine knows the user that it was made with, and not ours.
    applied: { ...state.applied, user: options.user ?? state.applied.user },
    ...(found.timeLimitSeconds === undefined ? {} : { timeLimitSeconds: found.timeLimitSeconds })
  }
  const home = prepared.home === "" ? "/" : prepared.home
  const workDirectory = workDirectoryOf(state)
  const isThere = (path: string) => !prepared.refused.includes(path)
  return {
    kind: flavor,
    name: `container ${state.name}`,
    workDirectory: isThere(workDirectory) ? workDirectory : home,
    logsDirectory: LOGS_DIRECTORY,
    testsDirectory: TESTS_DIRECTORY,
    homeDirectory: home,
    architecture: found.architecture ?? engine.facts.architecture,
    created: found.created,
    limitations: [
      ...found.limitations,
      ...limitations,
      ...(prepared.home === "" ? ["No directory can be written that could be the agents' home."] : []),
      ...[workDirectory, LOGS_DIRECTORY, TESTS_DIRECTORY]
        .filter((path) => !isThere(path))
        .map((path) => `${path} could not be made.`)
    ],
    container
  }
}
