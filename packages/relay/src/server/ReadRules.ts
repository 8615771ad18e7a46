/**
 * Which filters a key may ask at all. Kinds that are for one reader's eyes need a filter that says so; a filter without
 * `kinds` could match them too, hence it is refused like one that names them.
 */
import * as EventKind from "../EventKind.ts"
import type { Filter } from "../Filter.ts"

/** Why a filter is refused: it could show events for somebody else's eyes, or somebody else's agent memory. */
export type Gate = "p-gated" | "engram"

/** The refusals of `POST /query` and `POST /count` (403). */
export const HTTP_REFUSAL: Readonly<Record<Gate, string>> = {
  "p-gated": "restricted: p-gated kinds require #p tag matching your pubkey",
  engram: "restricted: agent-engram reads require authors=[self] or #p=[self]"
}

/** The refusals of `REQ` and `COUNT`, in the `CLOSED` frame. */
export const WS_REFUSAL: Readonly<Record<Gate, string>> = {
  "p-gated": "restricted: p-gated events require #p matching your pubkey",
  engram: HTTP_REFUSAL.engram
}

/** The gate that some filter does not pass, p-gated kinds first. */
export const closedGate = (filters: ReadonlyArray<Filter>, pubkey: string): Gate | undefined => {
  if (!filters.every((filter) => passesPGate(filter, pubkey))) return "p-gated"
  return filters.every((filter) => passesEngramGate(filter, pubkey)) ? undefined : "engram"
}

const passesPGate = (filter: Filter, pubkey: string): boolean => {
  const named = filter.kinds?.filter((kind) => EventKind.P_GATED.has(kind))
  if (named?.length === 0) return true
  if (isOnly(filter["#p"], pubkey)) return true
  return hasIds(filter) && named?.includes(EventKind.HiddenDirectMessages) !== true
}

const passesEngramGate = (filter: Filter, pubkey: string): boolean =>
  filter.kinds?.includes(EventKind.Engram) === false ||
  isOnly(filter.authors, pubkey) ||
  isOnly(filter["#p"], pubkey) ||
  hasIds(filter)

const isOnly = (values: ReadonlyArray<string> | undefined, pubkey: string): boolean =>
  values !== undefined && values.length > 0 && values.every((value) => value === pubkey)

const hasIds = (filter: Filter): boolean => filter.ids !== undefined && filter.ids.length > 0
