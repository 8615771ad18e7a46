/**
 * Puts the pinned stack into an environment, verified byte for byte, and says where it is. This file is the contract; the
 * implementation is `StackInstallerLive`.
 */
import { Context, type Effect } from "effect"
import type { Layout } from "./Layout.ts"
import type { InstallReason, RuntimeLaunchError } from "./RuntimeLaunchError.ts"
import type { StackFiles } from "./StackFiles.ts"

/**
 * The system's certificates: there before, copied from the stack's bundle, or neither. They are not what the stack's TLS needs,
 * which is told of its own bundle; programs of the task read them.
 */
export type TrustStore = "present" | "seeded" | "failed"

/** A stack that lies in the environment. */
export interface InstalledStack {
  readonly layout: Layout
  /** sha256 of every file in the layout's `bin`, by name, as computed inside the environment. */
  readonly digests: Readonly<Record<string, string>>
  /** Of the environment, as `uname -m` names it. */
  readonly architecture: string
  /** Absent where nobody looked. */
  readonly trustStore?: TrustStore
}

/** Puts a stack into the environment of its layer. */
export class StackInstaller extends Context.Service<
  StackInstaller,
  {
    /**
     * Checks every file on this machine before anything is uploaded, makes the layout's directories, uploads programs (mode
     * 0755), forwarder and CA bundle, and compares the digest of each program inside; seeds the system's certificates of a container that has none. What is found in the layout's `logs`
     * is removed: it would be read as this trial's.
     */
    install(files: StackFiles): Effect.Effect<InstalledStack, RuntimeLaunchError<InstallReason>>
  }
>()("@buzz-orchestra/runtime/StackInstaller") {}
