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
  isEvent(value) ? Result.succeed(fieldsOf(value)) : Result.mapError(decodeEvent(value), invalidEvent)

const invalidEvent = (error: { readonly message: string }): string => `invalid event: ${error.message}`

const decodeEvent = Schema.decodeUnknownResult(NostrEvent)
const decodeMessage = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Array(Schema.Unknown)))

/** The schema has the last word, and the words for what is wrong; nearly all events are right, and this is ten times faster. */
const isEvent = (value: unknown): value is NostrEvent => {
  if (typeof value !== "object" || value === null) return false
  const { content, created_at, id, kind, pubkey, sig, tags } = value as Readonly<Record<string, unknown>>
  return (
    isHex(id, 64) &&
    isHex(pubkey, 64) &&
    isHex(sig, 128) &&
    Number.isSafeInteger(created_at) &&
    Number.isSafeInteger(kind) &&
    typeof content === "string" &&
    Array.isArray(tags) &&
    tags.every(isTag)
  )
}

const isHex = (value: unknown, length: number): boolean =>
  typeof value === "string" && value.length === length && /^[0-9a-f]+$/.test(value)

const isTag = (tag: unknown): boolean =>
  Array.isArray(tag) && tag.length > 0 && tag.every((value) => typeof value === "string")

const fieldsOf = ({ content, created_at, id, kind, pubkey, sig, tags }: NostrEvent): NostrEvent => ({
  id,
  pubkey,
  created_at,
  kind,
  tags,
  content,
  sig
})

const decodeJson = (text: string): Result.Result<ReadonlyArray<unknown>, string> => {
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value)) return Result.succeed(value)
  } catch {
    // The schema says what is wrong.
  }
  return Result.mapError(decodeMessage(text), (error) => `JSON parse error: ${error.message}`)
}

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
