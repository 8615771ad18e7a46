/**
 * How programs in a trial's environment reach a server on this machine, such as the embedded relay. Which way there is, is known
 * once the environment exists.
 */
import { Context } from "effect"

/** The way from an environment to this machine. */
export type Way =
  /** They have this machine's network: its loopback is theirs. */
  | { readonly _tag: "SameNetwork" }
  /** `EnvironmentService.bridge` puts a listener of this process into their network. */
  | { readonly _tag: "Bridge" }
  /** They dial `name`. A server that listens at `address` of this machine is reached so, and by nobody who is elsewhere. */
  | { readonly _tag: "Gateway"; readonly name: string; readonly address: string }
  /** No way leads here. */
  | { readonly _tag: "None" }

/** The way from the environment of the layer to this machine. */
export class HostAccess extends Context.Service<HostAccess, Way>()("@buzz-orchestra/cli/HostAccess") {}
