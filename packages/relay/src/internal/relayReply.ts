/** What an HTTP answer of a relay means: pure, from status and text to a value or a reason. */
import { Result } from "effect"
import {
  RelayAuthRefused,
  RelayRateLimited,
  type RelayReason,
  RelayRefused,
  RelayReplyMalformed,
  RelayUnreachable
} from "../RelayError.ts"

/** Who asked where; stands in the reasons. */
export interface Asked {
  readonly url: string
  readonly pubkey: string
}

/** An HTTP answer, read to its end. */
export interface Reply {
  readonly status: number
  readonly body: string
  /** From the header `retry-after`. */
  readonly retryAfterMillis: number | undefined
}

/** The JSON value of a 200, or why there is none. */
export const jsonOf = (asked: Asked, reply: Reply): Result.Result<unknown, RelayReason> => {
  if (reply.status !== 200) return Result.fail(refusal(asked, reply))
  return Result.try({
    try: (): unknown => JSON.parse(reply.body),
    catch: () => new RelayReplyMalformed({ url: asked.url, detail: "the answer is not JSON" })
  })
}

/** The events of a query. Each is still to be decoded and verified. */
export const eventsOf = (asked: Asked, value: unknown): Result.Result<ReadonlyArray<unknown>, RelayReason> =>
  Array.isArray(value)
    ? Result.succeed(value)
    : Result.fail(new RelayReplyMalformed({ url: asked.url, detail: "the answer to a query is not a list" }))

/** How the relay took an event. A refusal with status 200 (`accepted: false`) is a value here: some callers expect it. */
export const acceptanceOf = (
  asked: Asked,
  eventId: string,
  value: unknown
): Result.Result<{ readonly accepted: boolean; readonly message: string }, RelayReason> => {
  const malformed = (detail: string) => Result.fail(new RelayReplyMalformed({ url: asked.url, detail }))
  if (typeof value !== "object" || value === null) return malformed("the answer to an event is not an object")
  const { accepted, message = "", event_id } = value as Record<string, unknown>
  if (typeof accepted !== "boolean" || typeof message !== "string") return malformed("no `accepted` in the answer")
  if (event_id !== eventId) return malformed("the answer is about another event")
  if (!accepted && message.startsWith("rate-limited:")) return Result.fail(rateLimited(asked, message, undefined))
  return Result.succeed({ accepted, message })
}

const refusal = (asked: Asked, reply: Reply): RelayReason => {
  const { status } = reply
  const detail = errorText(reply.body)
  if (status === 429 || detail.startsWith("rate-limited:")) return rateLimited(asked, detail, reply.retryAfterMillis)
  if (isTransient(status)) {
    return new RelayUnreachable({ url: asked.url, detail: `status ${status}: ${detail}` })
  }
  if (status === 401 || (status === 403 && !breaksRule(detail))) return new RelayAuthRefused({ ...asked, detail })
  return new RelayRefused({ url: asked.url, status, detail })
}

/** What a proxy or a relay answers that will soon be there again. */
export const isTransient = (status: number | undefined): boolean => status === 502 || status === 503 || status === 504

/** 403 is also the answer to an event or a query that breaks a rule; those say so with a prefix. */
export const breaksRule = (detail: string): boolean => /^(restricted|invalid):/.test(detail)

const rateLimited = (asked: Asked, detail: string, retryAfterMillis: number | undefined): RelayRateLimited => {
  return new RelayRateLimited({
    url: asked.url,
    detail,
    retryAfterMillis: retryAfterMillis ?? wishMillis(detail)
  })
}

/** The pause that a relay's sentence asks for (`retry in 7 s`), in milliseconds. */
export const wishMillis = (detail: string): number | undefined => {
  const seconds = /retry in (\d+(?:\.\d+)?)\s*s/i.exec(detail)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

/** The relay's own words: `error`, else `message`, else the body's beginning. */
const errorText = (body: string): string => {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === "object" && value !== null) {
      const { error, message } = value as Record<string, unknown>
      const text = typeof error === "string" ? error : message
      if (typeof text === "string") return text.slice(0, MAX_DETAIL)
    }
  } catch {
    // Not JSON: a proxy's page, or plain text.
  }
  return body.slice(0, MAX_DETAIL)
}

/** A proxy may answer with a whole page; an error carries its beginning, in characters. */
export const MAX_DETAIL = 300
