/**
 * Brings the relay of a trial and the trial's environment together: serves the embedded relay where the environment reaches it, and
 * offers one on this machine's loopback there. How is decided in `RelayPlan`; a bridge or a forwarder is the trial's own, and so is asking the relay from inside.
 */
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import type { StackFiles } from "@buzz-orchestra/runtime/StackFiles"
import { Context, Effect, Layer, type Scope } from "effect"
import { CommandError, RelayNotReached } from "./CommandError.ts"
import * as GatewayListener from "./GatewayListener.ts"
import { HostAccess, type Way } from "./HostAccess.ts"
import * as LocalRelay from "./LocalRelay.ts"
import { bindAddress, offeredAt, ofEmbedded, ofRunning, type RelayAccess } from "./RelayPlan.ts"
import type { TrialRequest } from "./TrialRequest.ts"

/** The scope owns an embedded relay, and what leads to one that runs already. */
export const open = Effect.fn("RelaySetup.open")(function* (
  request: TrialRequest,
  stack: StackFiles
): Effect.fn.Return<RelayAccess, CommandError, EnvironmentService | HostAccess | Scope.Scope> {
  const way = yield* HostAccess
  const hasForwarder = stack.forwarder !== undefined
  if (request.relay._tag === "Embedded") return yield* serve(request.command, way, hasForwarder)
  const offered = offeredAt(request.relay, request.relayGateway, way, hasForwarder)
  const gateway =
    offered === undefined || way._tag !== "Gateway"
      ? request.relayGateway
      : `${way.name}:${yield* GatewayListener.open({ command: request.command, ...offered })}`
  return ofRunning(request.relay, gateway, way, hasForwarder)
})

const serve = Effect.fnUntraced(function* (command: string, way: Way, hasForwarder: boolean) {
  const urls = (port: number) => {
    const access = ofEmbedded(way, port, hasForwarder)
    return access === undefined ? [] : [access.relayUrl, access.userRelayUrl ?? access.relayUrl]
  }
  const options = { host: bindAddress(way), port: 0, urls }
  const services = yield* Layer.build(LocalRelay.layerAt(options, command))
  const { url } = Context.get(services, LocalRelay.EmbeddedRelay)
  const access = ofEmbedded(way, Number(new URL(url).port), hasForwarder)
  return access ?? (yield* notReached(command, url, "no way leads from its network to this machine"))
})

const notReached = Effect.fnUntraced(function* (command: string, relayUrl: string, detail: string) {
  const { facts } = yield* EnvironmentService
  const reason = new RelayNotReached({ relayUrl, environment: facts.name, detail })
  return yield* new CommandError({ command, reason })
})
