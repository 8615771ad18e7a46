/**
 * Needs `node:stream` and `dockerode`, which speaks the Engine HTTP API over a unix socket or TCP: `ContainerEngine` over it.
 * Everything above this file and its `internal` knows neither.
 */
import type Docker from "dockerode"
import { Effect, type FileSystem, Layer, type Path, Stream } from "effect"
import { type Duplex, Readable } from "node:stream"
import { ContainerEngine, type ContainerEvent, type EngineFacts, type OwnedObject } from "./ContainerEngine.ts"
import { createBody } from "./ContainerSpec.ts"
import { describe, type EngineAddressInvalid, type EngineEndpoint } from "./EngineEndpoint.ts"
import type { EngineError } from "./EngineError.ts"
import { EVENT_NAMES, flavorOf, traitsOf } from "./EngineFlavor.ts"
import { connectEngine } from "./internal/connectEngine.ts"
import {
  short,
  toContainerEvent,
  toContainerState,
  toImageFacts,
  toMachine,
  toNetworkFacts,
  toOwned
} from "./internal/engineRecords.ts"
import { type Ask, makeAsk, orGone, orMissing, toEngineError } from "./internal/engineRequest.ts"
import { execDuplex, hijacked } from "./internal/execDuplex.ts"
import { followBuild, lines } from "./internal/followBuild.ts"

/** The engine at `endpoint`. Fails at once when nobody answers there. */
export const layer = (
  endpoint: EngineEndpoint
): Layer.Layer<ContainerEngine, EngineError | EngineAddressInvalid, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(ContainerEngine, make(endpoint))

const make = Effect.fnUntraced(function* (endpoint: EngineEndpoint) {
  const docker = yield* connectEngine(endpoint)
  const address = describe(endpoint)
  let calls = 0
  const ask = makeAsk(address, () => calls++)
  const facts = yield* readFacts(docker, endpoint, ask)
  return ContainerEngine.of({
    facts,
    ...images(docker, ask),
    ...containers(docker, ask, facts),
    ...processes(docker, ask, facts),
    ...ownership(docker, ask),
    inspectNetwork: (name) =>
      ask(`inspect network ${name}`, () => docker.getNetwork(name).inspect()).pipe(
        Effect.map((network) => toNetworkFacts(network as Docker.NetworkInspectInfo)),
        orMissing
      ),
    calls: Effect.sync(() => calls)
  })
})

const readFacts = Effect.fnUntraced(function* (docker: Docker, endpoint: EngineEndpoint, ask: Ask) {
  const version = yield* ask("say its version", () => docker.version())
  const components: ReadonlyArray<{ readonly Name: string }> = version.Components ?? []
  const facts: EngineFacts = {
    flavor: flavorOf(components),
    version: version.Version,
    apiVersion: version.ApiVersion,
    architecture: toMachine(version.Arch),
    operatingSystem: version.Os,
    address: describe(endpoint),
    local: endpoint._tag === "Unix"
  }
  return facts
})

type Service = ContainerEngine["Service"]

const images = (docker: Docker, ask: Ask): Pick<Service, "inspectImage" | "buildImage"> => ({
  inspectImage: (reference) =>
    ask(`inspect image ${reference}`, () => docker.getImage(reference).inspect()).pipe(
      Effect.map(toImageFacts),
      orMissing
    ),
  buildImage: Effect.fn("ContainerEngine.buildImage")(function* ({ archive, labels, onProgress, tag }) {
    const action = `build image ${tag}`
    const build = (abortSignal: AbortSignal) =>
      docker.buildImage(Readable.from(Stream.toAsyncIterable(archive)), {
        t: tag,
        labels: { ...labels },
        forcerm: true,
        abortSignal
      })
    yield* Effect.scoped(
      Effect.gen(function* () {
        // The engine gives a build up when nobody listens any more.
        const response = yield* streamed(ask(action, build))
        yield* followBuild(response as AsyncIterable<Buffer>, action, onProgress)
      })
    )
    const built = yield* ask(`inspect image ${tag}`, () => docker.getImage(tag).inspect())
    return built.Id
  })
})

const containers = (
  docker: Docker,
  ask: Ask,
  { address, flavor }: EngineFacts
): Pick<
  Service,
  "createContainer" | "startContainer" | "removeContainer" | "inspectContainer" | "follow" | "holdStdin"
> => ({
  createContainer: (spec) =>
    Effect.map(
      ask(`create container ${spec.name}`, () => create(docker, spec.name, createBody(spec, flavor))),
      ({ Id, Warnings }) => ({ id: Id, warnings: Warnings ?? [] })
    ),
  startContainer: (id) => Effect.asVoid(ask(`start container ${short(id)}`, () => docker.getContainer(id).start())),
  removeContainer: (id) =>
    ask(`remove container ${short(id)}`, () => docker.getContainer(id).remove({ force: true, v: true })).pipe(orGone),
  inspectContainer: (id) =>
    ask(`inspect container ${short(id)}`, () => docker.getContainer(id).inspect()).pipe(
      Effect.map(toContainerState),
      orMissing
    ),
  follow: Effect.fn("ContainerEngine.follow")(function* (id: string) {
    const action = `follow container ${short(id)}`
    const filters: Docker.GetEventsOptions["filters"] = {
      type: ["container"],
      container: [id],
      event: Object.values(EVENT_NAMES).flat()
    }
    const response = yield* streamed(ask(action, (abortSignal) => docker.getEvents({ filters, abortSignal })))
    return lines(response as AsyncIterable<Buffer>, (cause) => toEngineError(action, address, cause)).pipe(
      Stream.map(toContainerEvent),
      Stream.filter((event): event is ContainerEvent => event !== undefined)
    )
  }),
  holdStdin: (id) =>
    Effect.asVoid(
      hijacked(
        ask(`attach to container ${short(id)}`, (abortSignal) =>
          docker.getContainer(id).attach({ stream: true, stdin: true, hijack: true, abortSignal })
        ) as Effect.Effect<Duplex, EngineError>
      )
    )
})

const processes = (docker: Docker, ask: Ask, { address, flavor }: EngineFacts): Pick<Service, "exec"> => {
  const { stdinStartsWithRequest } = traitsOf(flavor)
  return {
    exec: Effect.fn("ContainerEngine.exec")(function* (id, { argv, cwd, user }) {
      const action = `run a process in container ${short(id)}`
      const created = yield* ask(action, () =>
        docker.getContainer(id).exec({
          Cmd: stdinStartsWithRequest ? skipFirstLine(argv) : [...argv],
          AttachStdin: true,
          AttachStdout: true,
          AttachStderr: true,
          Tty: false,
          ...(user === undefined ? {} : { User: user }),
          ...(cwd === undefined ? {} : { WorkingDir: cwd })
        })
      )
      const socket = yield* hijacked(
        ask(action, (abortSignal) => created.start({ hijack: true, stdin: true, Tty: false, abortSignal }))
      )
      if (stdinStartsWithRequest) socket.write("\n")
      return yield* execDuplex(
        socket,
        address,
        ask(action, () => created.inspect())
      )
    })
  }
}

const ownership = (docker: Docker, ask: Ask): Pick<Service, "listOwned" | "removeOwned"> => ({
  listOwned: Effect.fn("ContainerEngine.listOwned")(function* (label: string) {
    const filters = { label: [label] }
    const found = yield* ask("list containers", () => docker.listContainers({ all: true, filters }))
    const networks = yield* ask("list networks", () => docker.listNetworks({ filters }))
    const volumes = yield* ask("list volumes", () => docker.listVolumes({ filters }))
    const built = yield* ask("list images", () => docker.listImages({ filters }))
    return [
      ...found.map(({ Id, Labels, Names }) => toOwned("container", Id, Names[0]?.replace(/^\//, ""), Labels)),
      ...networks.map(({ Id, Labels, Name }) => toOwned("network", Id, Name, Labels)),
      ...(volumes.Volumes ?? []).map(({ Labels, Name }) => toOwned("volume", Name, Name, Labels)),
      ...built.map(({ Id, Labels, RepoTags }) => toOwned("image", Id, RepoTags?.[0], Labels))
    ]
  }),
  removeOwned: (object) => orGone(ask(`remove ${object.kind} ${object.name}`, () => remove(docker, object)))
})

/** The first line of stdin is the request's body, ended by a line break that we send. `read` takes no byte more than a line. */
const skipFirstLine = (argv: ReadonlyArray<string>): Array<string> => [
  "sh",
  "-c",
  'read -r request; exec "$@"',
  "sh",
  ...argv
]

const remove = (docker: Docker, { id, kind }: OwnedObject): Promise<unknown> => {
  switch (kind) {
    case "container":
      return docker.getContainer(id).remove({ force: true, v: true })
    case "network":
      return docker.getNetwork(id).remove()
    case "volume":
      return docker.getVolume(id).remove()
    case "image":
      return docker.getImage(id).remove()
  }
}

/** An answer that comes bit by bit. An engine that does not even begin can be given up. */
const streamed = (open: Effect.Effect<NodeJS.ReadableStream, EngineError>) =>
  Effect.acquireRelease(open, (stream) => Effect.sync(() => (stream as Readable).destroy()), { interruptible: true })

interface Created {
  readonly Id: string
  readonly Warnings?: ReadonlyArray<string> | null
}

/** dockerode's own method loses the warnings, and puts the whole body, variables and all, into the URL as well. */
const create = (docker: Docker, name: string, body: object): Promise<Created> =>
  new Promise((resolve, reject) => {
    const request = {
      path: "/containers/create?",
      method: "POST",
      options: { _query: { name }, _body: body },
      statusCodes: { 200: true, 201: true, 400: "bad parameter", 404: "no such image", 409: "conflict", 500: "error" }
    }
    const modem = docker.modem as {
      readonly dial: (request: object, done: (error: unknown, data: Created) => void) => void
    }
    modem.dial(request, (error, data) => (error === null ? resolve(data) : reject(error as Error)))
  })
