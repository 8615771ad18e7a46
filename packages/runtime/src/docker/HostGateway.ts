/**
 * How programs in a container reach this machine, for a relay that has no bridge into the container (`NetworkBridge`): under
 * which name, and at which of this machine's addresses a server must listen to be reached by them and by nobody else.
 */
import { Effect } from "effect"
import { ContainerEngine } from "./ContainerEngine.ts"
import type { EngineError } from "./EngineError.ts"
import { traitsOf } from "./EngineFlavor.ts"

/** The way from a container to the engine's host. */
export interface HostGateway {
  /** Dialled in the container. */
  readonly name: string
  /**
   * The host's address in the container's network. An engine in a virtual machine has one that is no address of this machine: then a
   * server on the loopback is reached under the name.
   */
  readonly address: string
}

/** As Docker names it; Podman knows its own by that name, too. */
const DEFAULT_NETWORK = "bridge"

/** `network` as in `ContainerOptions`. `undefined` when no way leads out, or when there is no such network. */
export const hostGateway = Effect.fn("HostGateway.hostGateway")(function* (
  network: string
): Effect.fn.Return<HostGateway | undefined, EngineError, ContainerEngine> {
  const { facts, inspectNetwork } = yield* ContainerEngine
  if (network === "none") return undefined
  if (network === "host") return { name: "127.0.0.1", address: "127.0.0.1" }
  const isDefault = network === "public" || network === DEFAULT_NETWORK
  const found = yield* inspectNetwork(isDefault ? DEFAULT_NETWORK : network)
  const address = found?.gateways.find((gateway) => gateway.includes("."))
  if (address === undefined) return undefined
  // Docker's name always means the gateway of its default network.
  return { name: isDefault ? traitsOf(facts.flavor).hostName : address, address }
})
