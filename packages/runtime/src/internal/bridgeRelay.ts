/**
 * The relay under its own address in an environment that has no part in this machine's network: through the environment's
 * bridge, where it offers one, instead of a forwarder in it.
 */
import { RelayUrlInvalid } from "@buzz-orchestra/relay/RelayError"
import { authority, userRelayUrl } from "@buzz-orchestra/relay/RelayUrl"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { Effect, type FileSystem, Result, type Scope } from "effect"
import type { EnvironmentError } from "../EnvironmentError.ts"
import type { EnvironmentService } from "../EnvironmentService.ts"
import { ForwarderPortBusy, type ForwardReason } from "../RuntimeLaunchError.ts"
import { ofRelayUrl } from "./foreignReason.ts"
import { ownerOfPort } from "./portOwner.ts"

/** What an environment offers. */
export type Bridge = NonNullable<EnvironmentService["Service"]["bridge"]>

/** A relay that agents look for on their own loopback, in a form that a byte bridge can carry. */
export const isOnLoopback = (relayUrl: string): boolean =>
  /^ws:\/\/(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$)/i.test(relayUrl)

/** Returns once agents can reach the relay; the scope ends the bridge. */
export const bridgeRelay = Effect.fnUntraced(function* (
  handle: Pick<TrialHandle, "relayUrl" | "userRelayUrl">,
  bridge: Bridge
): Effect.fn.Return<void, ForwardReason | EnvironmentError, EnvironmentService | FileSystem.FileSystem | Scope.Scope> {
  const listen = yield* Effect.fromResult(
    Result.mapError(authority(handle.relayUrl), (invalid) => ofRelayUrl(invalid, "forwarder"))
  )
  const seenHere = yield* Effect.fromResult(
    Result.mapError(userRelayUrl(handle), (invalid) => ofRelayUrl(invalid, "user"))
  )
  const { hostname, port, protocol } = new URL(seenHere)
  if (protocol !== "http:") {
    const expected = "http:// or ws://, because a bridge cannot end TLS"
    return yield* ofRelayUrl(new RelayUrlInvalid({ url: seenHere, expected }), "forwarder")
  }
  const target = `${hostname}:${port || "80"}`
  yield* bridge(listen, target).pipe(
    Effect.catchIf(isBusy, () =>
      Effect.flatMap(ownerOfPort(listen), (owner) =>
        Effect.fail(new ForwarderPortBusy({ listener: "bridge", address: listen, attempts: 1, owner, lastLines: [] }))
      )
    )
  )
})

const isBusy = ({ reason }: EnvironmentError): boolean =>
  reason._tag === "CommandNotRun" && reason.detail.includes("EADDRINUSE")
