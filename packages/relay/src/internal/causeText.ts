/** The most telling words in a chain of foreign errors: those of the innermost one. */

/** Such as `connect ECONNREFUSED 127.0.0.1:3000`; `undefined` when no error of the chain says anything. */
export const causeText = (cause: unknown, depth = 0): string | undefined => {
  if (typeof cause !== "object" || cause === null || depth > MAX_DEPTH) return undefined
  const inner =
    ("cause" in cause ? causeText(cause.cause, depth + 1) : undefined) ??
    ("error" in cause ? causeText(cause.error, depth + 1) : undefined) ??
    ("errors" in cause && Array.isArray(cause.errors) ? causeText(cause.errors[0], depth + 1) : undefined)
  if (inner !== undefined) return inner
  return "message" in cause && typeof cause.message === "string" && cause.message !== "" ? cause.message : undefined
}

/** A chain may point back at itself. */
const MAX_DEPTH = 8
