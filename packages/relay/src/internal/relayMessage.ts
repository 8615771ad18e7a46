/** Frames between client and relay (NIP-01, NIP-42), read without trusting their shape. */
import type { Filter } from "../Filter.ts"
import type { NostrEvent } from "../NostrEvent.ts"

/** What a relay says. The event inside `Event` is unchecked: decode and verify it before use. */
export type RelayMessage =
  | { readonly _tag: "Event"; readonly subscription: string; readonly event: unknown }
  | { readonly _tag: "Eose"; readonly subscription: string }
  | { readonly _tag: "Ok"; readonly eventId: string; readonly accepted: boolean; readonly message: string }
  | { readonly _tag: "Closed"; readonly subscription: string; readonly message: string }
  | { readonly _tag: "Notice"; readonly message: string }
  | { readonly _tag: "Auth"; readonly challenge: string }

/** What a client says. */
export type ClientMessage =
  | readonly ["REQ", string, ...ReadonlyArray<Filter>]
  | readonly ["EVENT", NostrEvent]
  | readonly ["CLOSE", string]
  | readonly ["AUTH", NostrEvent]

/** Reads one frame; `undefined` when it is not the protocol. A reason that is missing reads as the empty text. */
export const parse = (frame: string): RelayMessage | undefined => {
  let value: unknown
  try {
    value = JSON.parse(frame)
  } catch {
    return undefined
  }
  if (!Array.isArray(value)) return undefined
  const [verb, first, second, third] = value as ReadonlyArray<unknown>
  if (typeof first !== "string") return undefined
  switch (verb) {
    case "EVENT":
      return second === undefined ? undefined : { _tag: "Event", subscription: first, event: second }
    case "EOSE":
      return { _tag: "Eose", subscription: first }
    case "OK":
      return typeof second === "boolean"
        ? { _tag: "Ok", eventId: first, accepted: second, message: text(third) }
        : undefined
    case "CLOSED":
      return { _tag: "Closed", subscription: first, message: text(second) }
    case "NOTICE":
      return { _tag: "Notice", message: first }
    case "AUTH":
      return { _tag: "Auth", challenge: first }
    default:
      return undefined
  }
}

/** The frame as it goes over the wire. */
export const encode = (message: ClientMessage): string => JSON.stringify(message)

const text = (value: unknown): string => (typeof value === "string" ? value : "")
