/** What a call of the `buzz` program means: pure, from exit code and output to a value or a reason. */
import { Result } from "effect"
import {
  BuzzProgramFailed,
  RelayAuthRefused,
  RelayRateLimited,
  type RelayReason,
  RelayRefused,
  RelayReplyMalformed,
  RelayUnreachable
} from "../RelayError.ts"
import { breaksRule, isTransient, MAX_DETAIL, wishMillis } from "./relayReply.ts"

/** Who called which program about which relay; stands in the reasons. */
export interface Called {
  readonly program: string
  readonly url: string
  readonly pubkey: string
}

/** A call that ended by itself. */
export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The one JSON value on stdout, or why there is none. */
export const valueOf = (called: Called, ended: Ended): Result.Result<unknown, RelayReason> => {
  if (ended.code !== 0) return Result.fail(failureOf(called, ended))
  return Result.try({
    try: (): unknown => JSON.parse(ended.stdout),
    catch: () => new RelayReplyMalformed({ url: called.url, detail: `${called.program} printed no JSON` })
  })
}

/** The answer of every command that writes. `accepted: false` is a value here, as over HTTP: some callers expect it. */
export interface Written {
  readonly accepted: boolean
  readonly eventId: string
  readonly message: string
  /** Only of a channel that was created. */
  readonly channelId: string | undefined
}

/** Reads a write command's object. */
export const writtenOf = (called: Called, value: unknown): Result.Result<Written, RelayReason> => {
  const { accepted, channel_id, event_id, message = "" } = fieldsOf(value)
  if (typeof accepted !== "boolean" || typeof event_id !== "string" || typeof message !== "string") {
    return Result.fail(malformed(called, "no `accepted` and `event_id` in the answer to a write"))
  }
  if (!accepted && message.startsWith("rate-limited:")) return Result.fail(rateLimited(called, message))
  return Result.succeed({
    accepted,
    eventId: event_id,
    message,
    channelId: typeof channel_id === "string" ? channel_id : undefined
  })
}

/** Reads a list of objects. */
export const listOf = (
  called: Called,
  value: unknown
): Result.Result<ReadonlyArray<Readonly<Record<string, unknown>>>, RelayReason> =>
  Array.isArray(value) ? Result.succeed(value.map(fieldsOf)) : Result.fail(malformed(called, "a list was expected"))

/** The program answered with something else than its documentation says. */
export const malformed = ({ program, url }: Called, detail: string): RelayReplyMalformed =>
  new RelayReplyMalformed({ url, detail: `${program}: ${detail}` })

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {}

const failureOf = (called: Called, { code, stderr }: Ended): RelayReason => {
  const line = stderr.trimEnd().split("\n").at(-1) ?? ""
  const { error, message, retryable } = fieldsOf(parsed(line))
  if (typeof error !== "string" || typeof message !== "string") {
    const said = stderr.trim().slice(0, MAX_DETAIL)
    return new BuzzProgramFailed({ program: called.program, detail: `exit code ${code}${said && `: ${said}`}` })
  }
  const { url, pubkey } = called
  const [, digits, text = message] = /^relay error (\d{3}): (.*)$/s.exec(message) ?? []
  const status = digits === undefined ? undefined : Number(digits)
  const detail = text.slice(0, MAX_DETAIL)
  if (status === 429 || detail.includes("rate-limited")) return rateLimited(called, detail)
  // Older builds have no such field; what can pass is known by its kind.
  const passes = typeof retryable === "boolean" ? retryable : error === "network_error" || isTransient(status)
  if (passes) return new RelayUnreachable({ url, detail })
  if (code === 3 && !breaksRule(detail)) return new RelayAuthRefused({ url, pubkey, detail })
  return new RelayRefused({ url, status, detail })
}

const rateLimited = ({ url }: Called, detail: string): RelayRateLimited =>
  new RelayRateLimited({ url, detail, retryAfterMillis: wishMillis(detail) })

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
