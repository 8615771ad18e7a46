/**
 * The phase `forward`: leads agents to the relay where something of ours has to, by forwarder or bridge, and asks the relay from
 * inside for a WebSocket handshake before any agent is started.
 */
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { Duration, Effect, Fiber, type FileSystem, type Scope } from "effect"
import type { Supervision } from "../AgentSupervisor.ts"
import type { EnvironmentError } from "../EnvironmentError.ts"
import { EnvironmentService } from "../EnvironmentService.ts"
import * as RelayForwarder from "../RelayForwarder.ts"
import { probeRelay, type RelayProbe } from "../RelayProbe.ts"
import { type ForwardReason, RelayNotAnswering } from "../RuntimeLaunchError.ts"
import { FORWARDER } from "../StackFiles.ts"
import type { InstalledStack } from "../StackInstaller.ts"
import type { TrialOptions } from "../TrialOptions.ts"
import type { PreparedTrial } from "../TrialPreparation.ts"
import { bridgeRelay, isOnLoopback } from "./bridgeRelay.ts"

/** A relay that is just being started anew gets this often to answer. */
export const PROBE_ATTEMPTS = 3

/** Between two attempts. */
export const PROBE_PAUSE = Duration.seconds(1)

export interface BeginBridgeOptions {
  readonly trial: { readonly options: Pick<TrialOptions, "relayGateway" | "stack"> }
  readonly handle: Pick<TrialHandle, "relayUrl" | "userRelayUrl">
}

export interface ReachRelayOptions {
  readonly trial: Pick<PreparedTrial, "readinessTimeout"> & {
    readonly options: Pick<TrialOptions, "forwarder" | "relayGateway">
  }
  readonly handle: Pick<TrialHandle, "relayUrl" | "userRelayUrl">
  readonly stack: InstalledStack
  readonly supervision: Pick<Supervision, "start" | "adopt">
  /** As `beginBridge` began it. */
  readonly bridge: BridgeBegun | undefined
}

/** Returns once agents can reach the relay through the bridge. */
export type BridgeBegun = Effect.Effect<void, ForwardReason | EnvironmentError>

/** What was found out about the relay from inside; a relay that is silent is a failure. The scope ends what leads to it. */
export type Reached = Exclude<RelayProbe, { readonly _tag: "RelaySilent" }>

type Needs = EnvironmentService | FileSystem.FileSystem | Scope.Scope

/**
 * Begins to build a bridge, where one leads to the relay: that takes as long as installing the stack, and neither needs the other. A
 * forwarder that was asked for comes first; a bridge is there without being asked. The scope ends it.
 */
export const beginBridge = Effect.fnUntraced(function* ({
  handle,
  trial
}: BeginBridgeOptions): Effect.fn.Return<BridgeBegun | undefined, never, Needs> {
  const { bridge } = yield* EnvironmentService
  const { relayGateway, stack } = trial.options
  const isForwarded = relayGateway !== undefined && stack.forwarder !== undefined
  if (bridge === undefined || isForwarded || !isOnLoopback(handle.relayUrl)) return undefined
  return Fiber.join(yield* Effect.forkScoped(bridgeRelay(handle, bridge)))
})

/** Returns once agents can reach the relay, as far as that can be found out. */
export const reachRelay = Effect.fnUntraced(function* (
  options: ReachRelayOptions
): Effect.fn.Return<Reached, ForwardReason | EnvironmentError, Needs> {
  const { facts } = yield* EnvironmentService
  const through = yield* lead(options)
  const { relayUrl } = options.handle
  for (let attempt = 1; ; attempt++) {
    const found = yield* probeRelay(relayUrl)
    if (found._tag !== "RelaySilent") return found
    const { detail } = found
    if (attempt === PROBE_ATTEMPTS)
      return yield* new RelayNotAnswering({ environment: facts.name, relayUrl, through, attempts: attempt, detail })
    yield* Effect.sleep(PROBE_PAUSE)
  }
})

const lead = Effect.fnUntraced(function* ({ bridge, handle, stack, supervision, trial }: ReachRelayOptions) {
  if (bridge !== undefined) {
    yield* bridge
    return "bridge" as const
  }
  const { forwarder, relayGateway: gateway } = trial.options
  if (gateway === undefined) return "nothing" as const
  const { relayUrl } = handle
  const readyWithin = trial.readinessTimeout
  yield* RelayForwarder.start({ ...forwarder, supervision, stack, relayUrl, gateway, readyWithin })
  return FORWARDER
})
