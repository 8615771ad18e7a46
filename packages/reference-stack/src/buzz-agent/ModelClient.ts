/**
 * Asks a provider over HTTP, as often as it takes within the real agent's limits, and says of a failure what it was.
 */
import { type Duration, Effect, Random, Schema } from "effect"
import { HttpPost } from "../HttpPost.ts"
import { TracingLog } from "../TracingLog.ts"
import * as AgentFailed from "./AgentFailed.ts"
import type { ModelApi, ModelRequest } from "./ModelApi.ts"

/** Requests that are made for one response, the first one included. */
const ATTEMPTS = 3
/** The pause before the second one is up to this long and at least half of it; before the third twice that. */
const PAUSE_MILLIS = 500
/** Longer responses are not read. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024
/** Characters of a refusal that are passed on. */
const MAX_DETAIL = 500

/** Where and how to ask. */
export interface ModelEndpoint {
  readonly api: ModelApi
  readonly baseUrl: string
  /** The credentials among them: they are shown to nobody else. */
  readonly headers: Readonly<Record<string, string>>
  /** For one attempt, from the first byte sent to the last one read. */
  readonly timeout: Duration.Input
  /** A refused key is shown once more: some gateways refuse one that they have just not read yet. */
  readonly isAuthRetried: boolean
}

/** The provider answered with another status than 2xx (then `status` is there), not at all, or with nonsense. */
export class ModelUnavailable extends Schema.TaggedError<ModelUnavailable>()("ModelUnavailable", {
  status: Schema.optionalKey(Schema.Int),
  detail: Schema.String,
  isRetryable: Schema.Boolean
}) {
  override get message(): string {
    return this.status === undefined ? this.detail : `status ${this.status}: ${this.detail}`
  }
}

/** As the client of the agent is told: -32001 for a refused key, -32000 for the rest. */
export const agentFailed = (failure: ModelUnavailable): AgentFailed.AgentFailed =>
  isAuth(failure)
    ? AgentFailed.llmAuth(`provider: ${failure.message}`)
    : AgentFailed.llm(`provider: ${failure.message}`)

/** Asks until there is a response or no more attempt. */
export const ask = Effect.fn("ModelClient.ask")(function* (endpoint: ModelEndpoint, request: ModelRequest) {
  const log = yield* TracingLog
  const body = JSON.stringify(endpoint.api.body(request))
  for (let attempt = 1; ; attempt++) {
    const answer = yield* Effect.result(once(endpoint, body))
    if (answer._tag === "Success") return answer.success
    const { failure } = answer
    const isWorthIt =
      (failure.isRetryable && attempt < ATTEMPTS) || (isAuth(failure) && endpoint.isAuthRetried && attempt === 1)
    if (!isWorthIt) return yield* failure
    const pause = PAUSE_MILLIS * 2 ** (attempt - 1) * (0.5 + (yield* Random.next) / 2)
    yield* log.log("WARN", "buzz_agent", `provider: ${failure.message}; trying again in ${Math.round(pause)} ms`)
    yield* Effect.sleep(pause)
  }
})

const isAuth = ({ status }: ModelUnavailable): boolean => status === 401 || status === 403

const once = Effect.fnUntraced(function* (endpoint: ModelEndpoint, body: string) {
  const http = yield* HttpPost
  const { body: text, status } = yield* http
    .send({
      url: `${endpoint.baseUrl}${endpoint.api.path}`,
      headers: endpoint.headers,
      body,
      maxBytes: MAX_RESPONSE_BYTES
    })
    .pipe(
      Effect.mapError(({ detail, isTooLong }) => new ModelUnavailable({ detail, isRetryable: !isTooLong })),
      Effect.timeoutOrElse({
        duration: endpoint.timeout,
        orElse: () => Effect.fail(new ModelUnavailable({ detail: "request timed out", isRetryable: true }))
      })
    )
  const isOk = status >= 200 && status <= 299
  if (!isOk)
    return yield* new ModelUnavailable({
      status,
      detail: refusalText(text),
      isRetryable: status === 429 || status >= 500
    })
  return yield* Effect.mapError(
    Effect.fromResult(endpoint.api.reply(parsed(text))),
    (detail) => new ModelUnavailable({ detail, isRetryable: false })
  )
})

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // No form has a text for a response: its reader says what it expected.
    return text
  }
}

/** `error.message` as all of them write it, else the body. */
const refusalText = (body: string): string => {
  const value = parsed(body) as { readonly error?: { readonly message?: unknown } | null } | string | null
  const message = typeof value === "object" ? value?.error?.message : undefined
  return (typeof message === "string" ? message : body).slice(0, MAX_DETAIL)
}
