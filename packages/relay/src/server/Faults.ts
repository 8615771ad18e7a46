/**
 * Where trouble can be made on purpose, so that clients can be tested against it. A reference whose default makes
 * none; the test facility that fills it is `testing/RelayFaults`.
 */
import { Context, Effect } from "effect"

/** An answer instead of the real one, with the relay's JSON envelope. */
export interface HttpFault {
  readonly status: number
  /** Value of the `Retry-After` header. */
  readonly retryAfterSeconds?: number
}

/** The points at which the relay asks before it goes on. */
export interface FaultPlan {
  /** Asked for every HTTP request, `/` for WebSocket upgrades included: an answer, or nothing for the real one. */
  readonly httpFault: (path: string) => Effect.Effect<HttpFault | undefined>
  /** Waited for by every open connection: when it completes, the connection is cut without a farewell. */
  readonly connectionCut: Effect.Effect<void>
  /** Waited for before every write to a connection. */
  readonly maySend: Effect.Effect<void>
}

/** No trouble. */
export const NO_FAULTS: FaultPlan = {
  httpFault: () => Effect.undefined,
  connectionCut: Effect.never,
  maySend: Effect.void
}

/** The plan that a relay follows; read when a request or connection arrives. */
export const Faults = Context.Reference<FaultPlan>("@buzz-orchestra/relay/server/Faults", {
  defaultValue: () => NO_FAULTS
})
