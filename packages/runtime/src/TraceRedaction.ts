/**
 * What must not stand in a span, for tracers that send spans out of the process: each running trial adds its own. Shared by the
 * whole process unless it is provided anew.
 */
import { Context, Effect, type Scope } from "effect"

/** Takes secrets out of text. */
export type Redact = (text: string) => string

/** The redactions that hold now. */
export interface TraceRedactions {
  /** Adds one for as long as the scope is open. */
  readonly hold: (redact: Redact) => Effect.Effect<void, never, Scope.Scope>
  readonly apply: Redact
}

/** None yet. */
export const make = (): TraceRedactions => {
  const held = new Set<{ readonly redact: Redact }>()
  return {
    hold: (redact) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => {
            const entry = { redact }
            held.add(entry)
            return entry
          }),
          (entry) => Effect.sync(() => held.delete(entry))
        )
      ),
    apply: (text) => [...held].reduce((redacted, { redact }) => redact(redacted), text)
  }
}

/** The redactions of this process. */
export const TraceRedaction: Context.Reference<TraceRedactions> = Context.Reference(
  "@buzz-orchestra/runtime/TraceRedaction",
  { defaultValue: make }
)
