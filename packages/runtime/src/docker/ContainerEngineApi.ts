/**
 * Needs `node:stream` and `dockerode`, which speaks the Engine HTTP API over a unix socket or TCP: `ContainerEngine` over it.
 * Everything above this file knows neither.
 */
import Docker from "dockerode"
import { Effect, FileSystem, Layer, Option, Path, Queue, type Scope, Sink, Stream, type Cause } from "effect"
import { type Duplex, Readable } from "node:stream"
import { CommandNotRun, EnvironmentError } from "../EnvironmentError.ts"
import type { ByteDuplex } from "../Shell.ts"
import { ContainerEngine, type ContainerState, type EngineFacts, type OwnedObject } from "./ContainerEngine.ts"
import { createBody } from "./ContainerSpec.ts"
import { describe, EngineAddressInvalid, type EngineEndpoint } from "./EngineEndpoint.ts"
import { type EngineError, EngineRefused, EngineUnreachable } from "./EngineError.ts"
import { flavorOf } from "./EngineFlavor.ts"
import * as RawStream from "./RawStream.ts"

/** The engine at `endpoint`. Fails at once when nobody answers there. */
export const layer = (
  endpoint: EngineEndpoint
): Layer.Layer<ContainerEngine, EngineError | EngineAddressInvalid, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(ContainerEngine, make(endpoint))

const make = Effect.fnUntraced(function* (endpoint: EngineEndpoint) {
  const docker = yield* connect(endpoint)
  const address = describe(endpoint)
  let calls = 0

  /** One request. `missing` turns "no such object" into an answer. */
  const ask = <A>(action: string, request: () => Promise<A>): Effect.Effect<A, EngineError> =>
    Effect.tryPromise({
      try: () => {
        calls++
        return request()
      },
      catch: (cause) => toEngineError(action, address, cause)
    })

  const facts = yield* readFacts(docker, endpoint, ask)

  const inspectContainer = (id: string) =>
    ask(`inspect container ${short(id)}`, () => docker.getContainer(id).inspect()).pipe(
      Effect.map(toContainerState),
      orMissing
    )

  const exec = Effect.fn("ContainerEngine.exec")(function* (
    id: string,
    { argv, cwd, user }: { argv: ReadonlyArray<string>; user?: string | undefined; cwd?: string | undefined }
  ): Effect.fn.Return<ByteDuplex, EngineError, Scope.Scope> {
    const action = `run a process in container ${short(id)}`
    const created = yield* ask(action, () =>
      docker.getContainer(id).exec({
        Cmd: [...argv],
        AttachStdin: true,
        AttachStdout: true,
        AttachStderr: true,
        Tty: false,
        ...(user === undefined ? {} : { User: user }),
        ...(cwd === undefined ? {} : { WorkingDir: cwd })
      })
    )
    const socket = yield* Effect.acquireRelease(
      ask(action, () => created.start({ hijack: true, stdin: true, Tty: false })),
      (duplex) => Effect.sync(() => duplex.destroy())
    )
    return yield* toDuplex(socket, address, () => ask(action, () => created.inspect()))
  })

  return ContainerEngine.of({
    facts,
    inspectImage: (reference) =>
      ask(`inspect image ${reference}`, () => docker.getImage(reference).inspect()).pipe(
        Effect.map((image) => ({
          id: image.Id,
          architecture: toMachine(image.Architecture),
          user: image.Config.User ?? "",
          workDirectory: image.Config.WorkingDir ?? "",
          environment: image.Config.Env ?? []
        })),
        orMissing
      ),
    buildImage: Effect.fn("ContainerEngine.buildImage")(function* ({ archive, labels, onProgress, tag }) {
      const action = `build image ${tag}`
      const body = Readable.from(Stream.toAsyncIterable(archive))
      const response = yield* ask(action, () =>
        docker.buildImage(body, { t: tag, labels: { ...labels }, forcerm: true })
      )
      yield* followBuild(response, action, onProgress)
      const built = yield* ask(`inspect image ${tag}`, () => docker.getImage(tag).inspect())
      return built.Id
    }),
    createContainer: (spec) =>
      Effect.map(
        ask(`create container ${spec.name}`, () => docker.createContainer(createBody(spec, facts.flavor))),
        ({ id }) => id
      ),
    startContainer: (id) => Effect.asVoid(ask(`start container ${short(id)}`, () => docker.getContainer(id).start())),
    removeContainer: (id) =>
      ask(`remove container ${short(id)}`, () => docker.getContainer(id).remove({ force: true, v: true })).pipe(orGone),
    inspectContainer,
    awaitStopped: (id) =>
      ask(`wait for container ${short(id)}`, () => docker.getContainer(id).wait({ condition: "not-running" })).pipe(
        orGone
      ),
    exec,
    listOwned: Effect.fn("ContainerEngine.listOwned")(function* (label) {
      const filters = { label: [label] }
      const containers = yield* ask("list containers", () => docker.listContainers({ all: true, filters }))
      const networks = yield* ask("list networks", () => docker.listNetworks({ filters }))
      const volumes = yield* ask("list volumes", () => docker.listVolumes({ filters }))
      const images = yield* ask("list images", () => docker.listImages({ filters }))
      return [
        ...containers.map(({ Id, Labels, Names }) => owned("container", Id, Names[0]?.replace(/^\//, ""), Labels)),
        ...networks.map(({ Id, Labels, Name }) => owned("network", Id, Name, Labels)),
        ...(volumes.Volumes ?? []).map(({ Labels, Name }) => owned("volume", Name, Name, Labels)),
        ...images.map(({ Id, Labels, RepoTags }) => owned("image", Id, RepoTags?.[0], Labels))
      ]
    }),
    removeOwned: (object) => ask(`remove ${object.kind} ${object.name}`, () => remove(docker, object)).pipe(orGone),
    createVolume: ({ labels, name }) =>
      Effect.asVoid(ask(`create volume ${name}`, () => docker.createVolume({ Name: name, Labels: { ...labels } }))),
    calls: Effect.sync(() => calls)
  })
})

type Ask = <A>(action: string, request: () => Promise<A>) => Effect.Effect<A, EngineError>

/** dockerode reads its own environment variables unless every option it looks for is given. */
const connect = Effect.fnUntraced(function* (endpoint: EngineEndpoint) {
  switch (endpoint._tag) {
    case "Unix":
      return new Docker({ socketPath: endpoint.path })
    case "Ssh":
      return yield* new EngineAddressInvalid({
        source: describe(endpoint),
        detail:
          "is reached through ssh, which is not supported: forward its socket " +
          "(ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock HOST) and set DOCKER_HOST=unix:///tmp/engine.sock"
      })
    case "Tcp": {
      const { host, port, tls } = endpoint
      if (tls === undefined) return new Docker({ host, port, protocol: "http" })
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const pem = (name: string) => Effect.option(fs.readFile(path.join(tls.directory, name)))
      const [ca, cert, key] = yield* Effect.all([pem("ca.pem"), pem("cert.pem"), pem("key.pem")])
      if (tls.verify && tls.directory !== "" && Option.isNone(ca)) {
        return yield* new EngineAddressInvalid({
          source: describe(endpoint),
          detail: `needs ${path.join(tls.directory, "ca.pem")}, which cannot be read`
        })
      }
      const files = { ...optionalPem("ca", ca), ...optionalPem("cert", cert), ...optionalPem("key", key) }
      return new Docker({ host, port, protocol: "https", ...files })
    }
  }
})

const optionalPem = <Name extends string>(name: Name, file: Option.Option<Uint8Array>) =>
  Option.isNone(file) ? {} : { [name]: Buffer.from(file.value) }

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

/** Go's names of architectures as `uname -m` has them. */
const toMachine = (architecture: string): string =>
  architecture === "amd64" ? "x86_64" : architecture === "arm64" ? "aarch64" : architecture

const short = (id: string): string => (/^[0-9a-f]{64}$/.test(id) ? id.slice(0, 12) : id)

const toEngineError = (action: string, address: string, cause: unknown): EngineError => {
  const { statusCode, json, message } = cause as {
    readonly statusCode?: number
    readonly json?: { readonly message?: string }
    readonly message?: string
  }
  const detail = (typeof json === "object" ? json?.message : undefined) ?? message ?? String(cause)
  return statusCode === undefined
    ? new EngineUnreachable({ address, detail, cause })
    : new EngineRefused({ action, status: statusCode, detail: detail.trim() })
}

const isMissing = (error: EngineError): boolean => error._tag === "EngineRefused" && error.status === 404

const orMissing = <A>(effect: Effect.Effect<A, EngineError>): Effect.Effect<A | undefined, EngineError> =>
  Effect.catchIf(effect, isMissing, () => Effect.as(Effect.void, undefined))

const orGone = (effect: Effect.Effect<unknown, EngineError>): Effect.Effect<void, EngineError> =>
  Effect.asVoid(orMissing(effect))

const toContainerState = (container: Docker.ContainerInspectInfo): ContainerState => ({
  id: container.Id,
  name: container.Name.replace(/^\//, ""),
  running: container.State.Running,
  paused: container.State.Paused,
  exitCode: container.State.Running ? undefined : container.State.ExitCode,
  outOfMemory: container.State.OOMKilled,
  hostPid: container.State.Pid,
  image: container.Image,
  workDirectory: container.Config.WorkingDir,
  user: container.Config.User,
  environment: container.Config.Env ?? [],
  labels: container.Config.Labels ?? {}
})

const owned = (
  kind: OwnedObject["kind"],
  id: string,
  name: string | undefined,
  labels: Record<string, string> | undefined
): OwnedObject => ({ kind, id, name: name ?? short(id), labels: labels ?? {} })

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

/** Reads the build's messages to their end; an `error` among them is the build's failure. */
const followBuild = Effect.fnUntraced(function* (
  response: NodeJS.ReadableStream,
  action: string,
  onProgress: (line: string) => Effect.Effect<void>
) {
  yield* Stream.fromAsyncIterable(response as AsyncIterable<Buffer>, (cause) => cause).pipe(
    Stream.mapError((cause) => new EngineRefused({ action, status: 500, detail: String(cause) })),
    Stream.map((bytes) => Uint8Array.from(bytes)),
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filter((line) => line.trim() !== ""),
    Stream.runForEach((line) => {
      const message = JSON.parse(line) as { readonly stream?: string; readonly error?: string }
      if (message.error !== undefined) {
        return Effect.fail(new EngineRefused({ action, status: 500, detail: message.error }))
      }
      const text = message.stream?.trimEnd() ?? ""
      return text === "" ? Effect.void : onProgress(text)
    })
  )
})

/** Pieces of one output that may wait for their reader. Both outputs share a socket: neither may be left unread. */
const PIECES = 64

const toDuplex = Effect.fnUntraced(function* (
  socket: Duplex,
  address: string,
  inspect: () => Effect.Effect<Docker.ExecInspectInfo, EngineError>
): Effect.fn.Return<ByteDuplex, never, Scope.Scope> {
  const broken = (cause: unknown) =>
    new EnvironmentError({
      operation: "ContainerEngine.exec",
      reason: new CommandNotRun({
        environment: address,
        action: "talk to a process in the container",
        detail: cause instanceof Error ? cause.message : String(cause)
      })
    })
  const outputs = {
    stdout: yield* Queue.bounded<Uint8Array, EnvironmentError | Cause.Done>(PIECES),
    stderr: yield* Queue.bounded<Uint8Array, EnvironmentError | Cause.Done>(PIECES)
  }
  let state = RawStream.initial
  yield* Stream.fromAsyncIterable(socket as AsyncIterable<Buffer>, broken).pipe(
    Stream.runForEach((chunk) => {
      const [next, pieces] = RawStream.feed(state, chunk)
      state = next
      return Effect.forEach(pieces, ({ bytes, output }) => Queue.offer(outputs[output], bytes), { discard: true })
    }),
    Effect.matchEffect({
      onFailure: (error) => Effect.all([Queue.fail(outputs.stdout, error), Queue.fail(outputs.stderr, error)]),
      onSuccess: () => Effect.all([Queue.end(outputs.stdout), Queue.end(outputs.stderr)])
    }),
    Effect.forkScoped
  )
  const write = (bytes: Uint8Array) =>
    Effect.callback<void, EnvironmentError>((resume) => {
      socket.write(bytes, (error) =>
        resume(error === null || error === undefined ? Effect.void : Effect.fail(broken(error)))
      )
    })
  // The engine may know of the end a moment after the stream has ended.
  const exitCode = Effect.gen(function* () {
    while (true) {
      const { ExitCode, Running } = yield* Effect.mapError(inspect(), broken)
      if (!Running && ExitCode !== null) return ExitCode
      yield* Effect.sleep("20 millis")
    }
  })
  return {
    stdin: Sink.forEach(write).pipe(Sink.ensuring(Effect.sync(() => socket.end()))),
    stdout: Stream.fromQueue(outputs.stdout),
    stderr: Stream.fromQueue(outputs.stderr),
    exitCode
  }
})
