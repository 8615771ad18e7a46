/**
 * One place where a stack runs, behind one contract: a local sandbox (`LocalEnvironment`) or a container. The layer's
 * scope owns the environment: closing it ends every process in it, if we created it.
 */
import { Context, type Duration, type Effect, type Redacted, type Scope, type Stream } from "effect"
import type { ContainerFacts } from "./docker/ContainerFacts.ts"
import type { EnvironmentError } from "./EnvironmentError.ts"
import type { WatchEvent } from "./WatchEvent.ts"

/** Values that are `Redacted` reach the process and nothing else. */
export type EnvironmentVariables = Readonly<Record<string, string | Redacted.Redacted<string>>>

/** How a command is run. */
export interface ExecOptions {
  /** Added to the environment's own variables; never part of any process's arguments. */
  readonly env?: EnvironmentVariables
  /** Default: the environment's work directory. */
  readonly cwd?: string
  /** User name or numeric id inside the environment. Default: the environment's own user. */
  readonly user?: string
  /** Default: nothing (`/dev/null`). */
  readonly stdin?: Uint8Array
  /** Enforced inside the environment: the command's process group is killed there. Default 60 s. */
  readonly timeLimit?: Duration.Input
  /** Bytes kept of each stream, head and tail; the rest is counted. Default 1 MiB. */
  readonly maxOutputBytes?: number
}

/** How a command ended, and what it said. */
export interface ExecResult {
  /** 0–255; 128 + n when signal n ended it. */
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** The time limit ended it. */
  readonly timedOut: boolean
  /** Bytes left out of the middle of stdout or stderr. */
  readonly omittedBytes: number
}

/** How much of a folder may land on this machine. */
export interface DownloadLimits {
  readonly maxBytes: number
  /** Files, folders and links. */
  readonly maxFiles: number
}

/** Facts about an environment that are fixed once it exists. */
export interface EnvironmentFacts {
  /** `local`, `docker`, … */
  readonly kind: string
  /** Names it in messages, such as `local sandbox (bwrap)` or `container 3f2a…`. */
  readonly name: string
  /** Where the task's files are and agents start: `/app` unless the image says otherwise. */
  readonly workDirectory: string
  /** `/logs`: artifacts and evidence for verifiers. */
  readonly logsDirectory: string
  /** `/tests`. */
  readonly testsDirectory: string
  /** A clean, writable directory for HOME and temporary files of agents. */
  readonly homeDirectory: string
  /** As `uname -m` says: `x86_64`, `aarch64`. */
  readonly architecture: string
  /** Whether closing the scope ends it: true unless the caller brought it. */
  readonly created: boolean
  /** Where the stack is installed, tried in this order. Default: `/opt/buzz`, then `.buzz` in the home directory. */
  readonly stackRoots?: ReadonlyArray<string>
  /** Where processes that are none of this environment's can be seen: the variable with value that all of its own are given. */
  readonly mark?: string
  /** Guarantees this environment cannot give, one sentence each; empty when it gives all. */
  readonly limitations: ReadonlyArray<string>
  /** Of a container: its image and the settings that its engine reports. */
  readonly container?: ContainerFacts
}

/** One environment. */
export class EnvironmentService extends Context.Service<
  EnvironmentService,
  {
    readonly facts: EnvironmentFacts
    /**
     * Runs a POSIX shell command to its end. A non-zero exit code is a result, not an error. Small commands go through one
     * persistent shell, so a call costs well under a millisecond.
     */
    exec(command: string, options?: ExecOptions): Effect.Effect<ExecResult, EnvironmentError>
    /**
     * Follows every `*.log` and every `*.pid` in `directory` through one long-lived process in the environment: each log byte
     * once, by offset, and each change of a named process's life. Files may appear later. The scope ends the watch.
     */
    watch(directory: string): Effect.Effect<Stream.Stream<WatchEvent, EnvironmentError>, EnvironmentError, Scope.Scope>
    /** Writes a file, creating its directory. `mode` is octal such as `0o600`; `owner` a user inside the environment. */
    upload(
      source: { readonly path: string } | { readonly content: Uint8Array | Redacted.Redacted<string> },
      target: string,
      options?: { readonly mode?: number; readonly owner?: string }
    ): Effect.Effect<void, EnvironmentError>
    /** Copies a folder and everything in it to `target`. */
    uploadDirectory(source: string, target: string): Effect.Effect<void, EnvironmentError>
    /** Copies a file out to the host path `target`. */
    download(source: string, target: string): Effect.Effect<void, EnvironmentError>
    /**
     * Makes `target`, a `host:port` of this machine's network, reachable at `listen`, a `host:port` of the environment's loopback.
     * Returns once it listens; the scope ends it. Absent where the environment has this machine's network or another one that
     * cannot be entered from here.
     */
    readonly bridge?: (listen: string, target: string) => Effect.Effect<void, EnvironmentError, Scope.Scope>
    /** Copies a folder out; what cannot be read, or would go beyond `limits`, is returned by name, the rest is copied. */
    downloadDirectory(
      source: string,
      target: string,
      limits?: DownloadLimits
    ): Effect.Effect<ReadonlyArray<string>, EnvironmentError>
  }
>()("@buzz-orchestra/runtime/EnvironmentService") {}
