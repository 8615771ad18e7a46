/** The phase `forward` alone, without a forwarder. */
import { DEFAULT_LAYOUT } from "@buzz-orchestra/runtime/Layout"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import { Duration, Effect } from "effect"
import { beginBridge, reachRelay } from "../../src/internal/reachRelay.ts"

const none = () => Effect.die(new Error("no program is to be started"))

/** Asks the relay from the environment of the context as a trial does, through the environment's bridge if it has one. */
export const askRelay = Effect.fnUntraced(function* (relayUrl: string) {
  const options: Pick<TrialOptions, "forwarder" | "relayGateway" | "stack"> = { stack: { programs: {} } }
  const trial = { options, readinessTimeout: Duration.seconds(10) }
  const handle = { relayUrl, userRelayUrl: relayUrl }
  return yield* reachRelay({
    trial,
    handle,
    stack: { layout: DEFAULT_LAYOUT, digests: {}, architecture: "" },
    supervision: { start: none, adopt: none },
    bridge: yield* beginBridge({ trial, handle })
  })
})

/** The discard service's, at which nobody listens any more. */
export const DEAD_RELAY = "ws://127.0.0.1:9"
