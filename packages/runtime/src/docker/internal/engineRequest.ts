/**
 * One request of an engine, and what its refusals mean.
 */
import { Duration, Effect, Schedule } from "effect"
import { type EngineError, EngineRefused, EngineUnreachable } from "../EngineError.ts"

/** One request, abandoned when it is interrupted. */
export type Ask = <A>(action: string, request: (signal: AbortSignal) => Promise<A>) => Effect.Effect<A, EngineError>

/** `address` names the engine in errors; `onRequest` is told of each request. */
export const makeAsk =
  (address: string, onRequest: () => void): Ask =>
  (action, request) =>
    Effect.tryPromise({
      try: (signal) => {
        onRequest()
        return request(signal)
      },
      catch: (cause) => toEngineError(action, address, cause)
    })

/** dockerode rejects with the answer's status and body, or with what became of the connection. */
export const toEngineError = (action: string, address: string, cause: unknown): EngineError => {
  const { statusCode, json, message } = cause as {
    readonly statusCode?: number
    readonly json?: { readonly message?: string }
    readonly message?: string
  }
  const detail = (typeof json === "object" ? json?.message : undefined) ?? message ?? String(cause)
  return statusCode === undefined
    ? new EngineUnreachable({ address, detail, cause })
    : new EngineRefused({ action, status: statusCode, detail: detail.trim() })
}

/** Podman's server errors about objects that are not there: its own API has a status for them. */
const MISSING = /no such (container|image|network|volume)|does not exist in database/i

const isMissing = (error: EngineError): boolean =>
  error._tag === "EngineRefused" && (error.status === 404 || (error.status === 500 && MISSING.test(error.detail)))

/** Somebody else removes it at this moment. */
const isGoing = (error: EngineError): boolean =>
  error._tag === "EngineRefused" && error.status === 409 && error.detail.includes("already in progress")

/** It ends at this moment, which Podman does not wait for. */
const isEnding = (error: EngineError): boolean =>
  error._tag === "EngineRefused" && error.status === 500 && /state improper|could not be stopped/.test(error.detail)

/** "No such object" as an answer. */
export const orMissing = <A>(effect: Effect.Effect<A, EngineError>): Effect.Effect<A | undefined, EngineError> =>
  Effect.catchIf(effect, isMissing, () => Effect.as(Effect.void, undefined))

const ENDING_PAUSE = Duration.millis(100)
const ENDING_ATTEMPTS = 20

/** A removal: what is gone already, or goes at this moment, counts as done. */
export const orGone = (effect: Effect.Effect<unknown, EngineError>): Effect.Effect<void, EngineError> =>
  effect.pipe(
    Effect.retry({ while: isEnding, schedule: Schedule.spaced(ENDING_PAUSE), times: ENDING_ATTEMPTS }),
    Effect.catchIf(
      (error) => isMissing(error) || isGoing(error),
      () => Effect.void
    ),
    Effect.asVoid
  )
