/**
 * What is asked of a container engine, Docker or Podman. This file is the contract; the implementation over the Engine HTTP
 * API is `ContainerEngineApi`.
 */
import { Context, type Effect, type Scope, type Stream } from "effect"
import type { ByteDuplex } from "../Shell.ts"
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

/** A container as the engine sees it now. */
export interface ContainerState {
  readonly id: string
  readonly name: string
  readonly running: boolean
  readonly paused: boolean
  /** Of PID 1, once it ended. */
  readonly exitCode: number | undefined
  readonly outOfMemory: boolean
  /** PID 1 as the engine's host sees it; 0 when it does not run. */
  readonly hostPid: number
  readonly image: string
  readonly workDirectory: string
  readonly user: string
  readonly environment: ReadonlyArray<string>
  readonly labels: Readonly<Record<string, string>>
}

/** An image as the engine has it. */
export interface ImageFacts {
  readonly id: string
  readonly architecture: string
  readonly user: string
  readonly workDirectory: string
  readonly environment: ReadonlyArray<string>
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

export class ContainerEngine extends Context.Service<
  ContainerEngine,
  {
    readonly facts: EngineFacts
    /** `undefined` when the engine does not have the image. Nothing is ever pulled. */
    inspectImage(reference: string): Effect.Effect<ImageFacts | undefined, EngineError>
    /**
     * Builds the image of a Dockerfile directory, given as a tar archive, and returns its id. `onProgress` gets each line of
     * the build as it comes.
     */
    buildImage(options: {
      readonly archive: Stream.Stream<Uint8Array>
      readonly tag: string
      readonly labels: Readonly<Record<string, string>>
      readonly onProgress: (line: string) => Effect.Effect<void>
    }): Effect.Effect<string, EngineError>
    /** Creates a container that is not running yet; returns its id. */
    createContainer(spec: ContainerSpec): Effect.Effect<string, EngineError>
    startContainer(id: string): Effect.Effect<void, EngineError>
    /** Kills and removes a container with its anonymous volumes; one that is gone already counts as done. */
    removeContainer(id: string): Effect.Effect<void, EngineError>
    /** `undefined` when there is no such container. */
    inspectContainer(id: string): Effect.Effect<ContainerState | undefined, EngineError>
    /** Returns when the container does not run any more, or is gone. */
    awaitStopped(id: string): Effect.Effect<void, EngineError>
    /** Starts a process in a running container; the scope owns the connection, not the process. */
    exec(id: string, spec: ExecSpec): Effect.Effect<ByteDuplex, EngineError, Scope.Scope>
    /** Everything in the engine that carries this label. */
    listOwned(label: string): Effect.Effect<ReadonlyArray<OwnedObject>, EngineError>
    removeOwned(object: OwnedObject): Effect.Effect<void, EngineError>
    createVolume(options: {
      readonly name: string
      readonly labels: Readonly<Record<string, string>>
    }): Effect.Effect<void, EngineError>
    /** How many requests have been made of the engine so far. */
    readonly calls: Effect.Effect<number>
  }
>()("@buzz-orchestra/runtime/docker/ContainerEngine") {}
