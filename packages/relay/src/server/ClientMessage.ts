/**
 * What a client may say over WebSocket (NIP-01, NIP-42, NIP-45).
 */
import { Result, Schema } from "effect"
import { type Filter, parse as parseFilter } from "../Filter.ts"
import { NostrEvent } from "../NostrEvent.ts"
import * as Subscriptions from "./Subscriptions.ts"

/** One frame of a client. */
export type ClientMessage =
  | { readonly _tag: "Event"; readonly event: NostrEvent }
  | { readonly _tag: "Auth"; readonly event: NostrEvent }
  | { readonly _tag: "Close"; readonly id: string }
  | { readonly _tag: "Req" | "Count"; readonly id: string; readonly filters: ReadonlyArray<Filter> }

/** Bytes of UTF-8 that the id of a subscription may have. */
export const MAX_SUBSCRIPTION_ID_BYTES = 256

/** Reads one frame. The failure is a sentence for the client. */
export const parse = (text: string): Result.Result<ClientMessage, string> =>
  Result.flatMap(decodeJson(text), (message) => {
    const [verb, ...rest] = message
    switch (verb) {
      case "EVENT":
      case "AUTH":
        return Result.map(parseEvent(rest[0]), (event) => ({ _tag: verb === "EVENT" ? "Event" : "Auth", event }))
      case "REQ":
      case "COUNT":
        return parseRequest(verb === "REQ" ? "Req" : "Count", rest)
      case "CLOSE":
        return Result.map(parseId(rest[0]), (id) => ({ _tag: "Close", id }))
      default:
        return Result.fail(`unknown message type: ${String(verb)}`)
    }
  })

/** Reads one event, each time into a fresh object. */
export const parseEvent = (value: unknown): Result.Result<NostrEvent, string> =>
  Result.mapError(decodeEvent(value), (error) => `invalid event: ${error.message}`)

const decodeEvent = Schema.decodeUnknownResult(NostrEvent)
const decodeMessage = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Array(Schema.Unknown)))

const decodeJson = (text: string): Result.Result<ReadonlyArray<unknown>, string> =>
  Result.mapError(decodeMessage(text), (error) => `JSON parse error: ${error.message}`)

const parseRequest = (
  tag: "Req" | "Count",
  [subscription, ...values]: ReadonlyArray<unknown>
): Result.Result<ClientMessage, string> =>
  Result.gen(function* () {
    const id = yield* parseId(subscription)
    if (values.length > Subscriptions.MAX_FILTERS)
      return yield* Result.fail(`too many filters (${values.length}, at most ${Subscriptions.MAX_FILTERS})`)
    const filters = yield* Result.mapError(Result.all(values.map(parseFilter)), (detail) => `invalid filter: ${detail}`)
    return { _tag: tag, id, filters }
  })

const parseId = (value: unknown): Result.Result<string, string> => {
  if (typeof value !== "string" || value === "") return Result.fail("missing subscription id")
  return new TextEncoder().encode(value).length > MAX_SUBSCRIPTION_ID_BYTES
    ? Result.fail(`subscription id longer than ${MAX_SUBSCRIPTION_ID_BYTES} bytes`)
    : Result.succeed(value)
}
