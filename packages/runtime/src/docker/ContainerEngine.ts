/**
 * What is asked of a container engine, Docker or Podman. This file is the contract; the implementation over the Engine HTTP
 * API is `ContainerEngineApi`.
 */
import { Context, type Effect, type Scope, type Stream } from "effect"
import type { ByteDuplex } from "../ByteDuplex.ts"
import type { AppliedSettings } from "./ContainerFacts.ts"
import type { ContainerSpec } from "./ContainerSpec.ts"
import type { EngineFlavor } from "./EngineFlavor.ts"
import type { EngineError } from "./EngineError.ts"

/** Facts about an engine. */
export interface EngineFacts {
  readonly flavor: EngineFlavor
  readonly version: string
  readonly apiVersion: string
  /** As `uname -m` names it. */
  readonly architecture: string
  readonly operatingSystem: string
  /** Where it was reached, without credentials. */
  readonly address: string
  /** Whether it runs on this machine: reached through a unix socket. */
  readonly local: boolean
}

/** A network that a container is in. */
export interface ContainerNetwork {
  readonly name: string
  /** Address of the engine's host in it; empty when it has none. */
  readonly gateway: string
  /** The container's own; empty when it has none. */
  readonly address: string
}

/** A container as the engine sees it now. */
export interface ContainerState {
  readonly id: string
  readonly name: string
  readonly running: boolean
  readonly paused: boolean
  /** Of PID 1, once it ended. */
  readonly exitCode: number | undefined
  readonly outOfMemory: boolean
  /** Whose processes are seen in it beside its own: `host`, or `container:<id>`. Absent where nobody's are. */
  readonly sharesProcesses?: string
  /** PID 1 as the engine's host sees it; 0 when it does not run. */
  readonly hostPid: number
  /** Id of its image. */
  readonly image: string
  /** Empty when neither image nor container says. */
  readonly workDirectory: string
  readonly environment: ReadonlyArray<string>
  readonly labels: Readonly<Record<string, string>>
  readonly applied: AppliedSettings
  readonly networks: ReadonlyArray<ContainerNetwork>
}

/** An image as the engine has it. */
export interface ImageFacts {
  readonly id: string
  /** As `uname -m` names it. */
  readonly architecture: string
  readonly operatingSystem: string
  readonly user: string
  readonly workDirectory: string
  readonly environment: ReadonlyArray<string>
  readonly labels: Readonly<Record<string, string>>
}

/** A network as the engine has it. */
export interface NetworkFacts {
  readonly name: string
  readonly driver: string
  /** Nothing outside of the host can be reached from it. */
  readonly internal: boolean
  /** Addresses of the engine's host in it. */
  readonly gateways: ReadonlyArray<string>
}

/** Something of ours that an engine still has. */
export interface OwnedObject {
  readonly kind: "container" | "network" | "volume" | "image"
  readonly id: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/** How one process is started in a container. */
export interface ExecSpec {
  readonly argv: ReadonlyArray<string>
  readonly user?: string | undefined
  readonly cwd?: string | undefined
}

/** What happened to a container. Out of memory is said of any process in it; the container itself may go on. */
export type ContainerEvent = "stopped" | "paused" | "removed" | "out-of-memory"

/** A container engine, connected. */
export class ContainerEngine extends Context.Service<
  ContainerEngine,
  {
    readonly facts: EngineFacts
    /** `undefined` when the engine does not have the image. Nothing is ever pulled. */
    inspectImage(reference: string): Effect.Effect<ImageFacts | undefined, EngineError>
    /**
     * Builds the image of a Dockerfile directory, given as a tar archive, and returns its id. `onProgress` gets each line of
     * the build as it comes. An interrupted build is given up by the engine, too.
     */
    buildImage(options: {
      readonly archive: Stream.Stream<Uint8Array>
      readonly tag: string
      readonly labels: Readonly<Record<string, string>>
      readonly onProgress: (line: string) => Effect.Effect<void>
    }): Effect.Effect<string, EngineError>
    /** Creates a container that is not running yet. */
    createContainer(
      spec: ContainerSpec
    ): Effect.Effect<{ readonly id: string; readonly warnings: ReadonlyArray<string> }, EngineError>
    startContainer(id: string): Effect.Effect<void, EngineError>
    /** Kills and removes a container with its anonymous volumes; one that is gone already counts as done. */
    removeContainer(id: string): Effect.Effect<void, EngineError>
    /** `undefined` when there is no such container. */
    inspectContainer(id: string): Effect.Effect<ContainerState | undefined, EngineError>
    /** `undefined` when there is no such network. */
    inspectNetwork(name: string): Effect.Effect<NetworkFacts | undefined, EngineError>
    /**
     * Follows a container from now on: what happens after this has returned is in the stream. The scope owns the connection;
     * the stream ends when the engine breaks it.
     */
    follow(id: string): Effect.Effect<Stream.Stream<ContainerEvent, EngineError>, EngineError, Scope.Scope>
    /** Holds the stdin of a created container open, until the scope closes or this process is gone. */
    holdStdin(id: string): Effect.Effect<void, EngineError, Scope.Scope>
    /** Starts a process in a running container; the scope owns the connection, not the process. */
    exec(id: string, spec: ExecSpec): Effect.Effect<ByteDuplex, EngineError, Scope.Scope>
    /** Everything in the engine that carries this label. */
    listOwned(label: string): Effect.Effect<ReadonlyArray<OwnedObject>, EngineError>
    /** What is gone already counts as done; what is in use is refused. */
    removeOwned(object: OwnedObject): Effect.Effect<void, EngineError>
    /** How many requests have been made of the engine so far. */
    readonly calls: Effect.Effect<number>
  }
>()("@buzz-orchestra/runtime/docker/ContainerEngine") {}
