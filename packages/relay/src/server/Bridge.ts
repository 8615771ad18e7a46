/**
 * The HTTP side of the protocol: `POST /events`, `/query` and `/count`, each authorised by NIP-98. Decides the answer
 * and the new state; reading and writing is the routes' work.
 */
import { Result, Schema } from "effect"
import * as Nip98 from "../Nip98.ts"
import * as OwnerAttestation from "../OwnerAttestation.ts"
import * as RelayUrl from "../RelayUrl.ts"
import * as ClientMessage from "./ClientMessage.ts"
import type { Outgoing } from "./Delivery.ts"
import * as Hosts from "./Hosts.ts"
import * as Publish from "./Publish.ts"
import * as Query from "./Query.ts"
import * as ReadRules from "./ReadRules.ts"
import * as RelayState from "./RelayState.ts"
import * as ReplayWindow from "./ReplayWindow.ts"

/** The routes of the bridge. */
export type Path = "/events" | "/query" | "/count"

/** One request to the bridge, its body read. */
export interface Request {
  readonly path: Path
  /** The `Host` header. */
  readonly host: string | undefined
  /** The `Authorization` header. */
  readonly authorization: string | undefined
  /** The `x-auth-tag` header: who attested the sender, as JSON. Read by a closed relay only. */
  readonly authTag: string | undefined
  readonly body: Uint8Array
}

/** Status and JSON body. */
export interface Response {
  readonly status: number
  readonly body: unknown
}

/** The answer, and what is to be done about it. */
export interface Answered {
  readonly state: RelayState.RelayState
  readonly response: Response
  readonly outgoing: ReadonlyArray<Outgoing>
}

/**
 * Answers one request: authorisation, replay, membership of the relay, and only then the body, so that a stranger
 * learns nothing from a malformed one. `now` in seconds.
 */
export const answer = (
  state: RelayState.RelayState,
  rules: RelayState.RelayRules,
  request: Request,
  now: number
): Answered =>
  Result.match(admit(state, rules, request, now), {
    onFailure: (response) => ({ state, response, outgoing: [] }),
    onSuccess: ({ pubkey, state }) =>
      Result.match(parseJson(request.body), {
        onFailure: (detail): Answered => refuse(state, 400, `${invalidBody(request.path)}: ${detail}`),
        onSuccess: (body) =>
          request.path === "/events"
            ? publish(state, rules, { body, pubkey }, now)
            : read(state, rules, { body, path: request.path, pubkey }, now)
      })
  })

const admit = (
  state: RelayState.RelayState,
  rules: RelayState.RelayRules,
  { authTag, authorization, body, host, path }: Request,
  now: number
): Result.Result<{ readonly pubkey: string; readonly state: RelayState.RelayState }, Response> =>
  Result.gen(function* () {
    const [url, ...otherUrls] = Hosts.urlsFor(rules, host)
    if (url === undefined) return yield* Result.fail(UNKNOWN_HOST)
    const { eventId, pubkey } = yield* Result.mapError(
      firstSuccess([url, ...otherUrls], (url) =>
        Nip98.verify(rules.schnorr, authorization, { expectedUrl: httpUrl(url, path), method: "POST", body, now })
      ),
      (error) => ({ status: 401, body: { error } })
    )
    const replays = ReplayWindow.use(state.replays, eventId, now)
    if (replays === undefined) return yield* Result.fail({ status: 401, body: { error: "NIP-98: replay detected" } })
    const attested =
      authTag === undefined || rules.closed === undefined
        ? undefined
        : Result.getOrUndefined(OwnerAttestation.verify(rules.schnorr, authTag, pubkey))
    if (!RelayState.admits(state, rules, pubkey, attested?.owner)) return yield* Result.fail(NOT_A_RELAY_MEMBER)
    return { pubkey, state: { ...state, replays } }
  })

/** The answer to a host that a relay bound to its hosts does not have. */
export const UNKNOWN_HOST: Response = { status: 404, body: { error: "unknown host" } }

/** The answer where the relay has troubles of its own, such as a full disk. */
export const INTERNAL_ERROR: Response = { status: 500, body: { error: "internal server error" } }

const NOT_A_RELAY_MEMBER: Response = {
  status: 403,
  body: { error: "relay_membership_required", message: "You must be a relay member to access this relay" }
}

const publish = (
  state: RelayState.RelayState,
  rules: RelayState.RelayRules,
  { body, pubkey }: { readonly body: unknown; readonly pubkey: string },
  now: number
): Answered =>
  Result.match(ClientMessage.parseEvent(body), {
    onFailure: (detail) => refuse(state, 400, `invalid event JSON: ${detail}`),
    onSuccess: (event): Answered => {
      const published = Publish.publish(state, rules, { event, by: pubkey, via: "http" }, now)
      const { accepted, message, status } = published.answer
      return {
        state: published.state,
        outgoing: published.outgoing,
        response:
          status === 200
            ? { status, body: { event_id: event.id, accepted, message } }
            : { status, body: { error: message } }
      }
    }
  })

const read = (
  state: RelayState.RelayState,
  rules: RelayState.RelayRules,
  request: { readonly body: unknown; readonly path: Path; readonly pubkey: string },
  now: number
): Answered =>
  Result.match(Query.parseFilters(request.body), {
    onFailure: (detail) => refuse(state, 400, `invalid filters: ${detail}`),
    onSuccess: (filters): Answered => {
      if (filters.some((filter) => filter.before_id !== undefined && filter.until === undefined))
        return refuse(state, 400, "before_id requires until to be set")
      const gate = ReadRules.closedGate(filters, request.pubkey)
      if (gate !== undefined) return refuse(state, 403, ReadRules.HTTP_REFUSAL[gate])
      const body =
        request.path === "/count"
          ? { count: Query.count(state, { filters, pubkey: request.pubkey }) }
          : Query.run(state, rules, { filters, pubkey: request.pubkey, now })
      return { state, outgoing: [], response: { status: 200, body } }
    }
  })

const refuse = (state: RelayState.RelayState, status: number, error: string): Answered => ({
  state,
  response: { status, body: { error } },
  outgoing: []
})

const invalidBody = (path: Path): string => (path === "/events" ? "invalid event JSON" : "invalid filters")

const decodeJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

const parseJson = (body: Uint8Array): Result.Result<unknown, string> =>
  Result.mapError(decodeJson(new TextDecoder().decode(body)), () => "the body is not JSON")

/** The URLs are checked when the relay starts. */
const httpUrl = (url: string, path: Path): string => `${Result.getOrElse(RelayUrl.toHttp(url), () => url)}${path}`

/** The first success, else the first failure. */
const firstSuccess = <A, E>(
  [first, ...rest]: RelayState.RelayRules["urls"],
  attempt: (url: string) => Result.Result<A, E>
): Result.Result<A, E> =>
  rest.reduce((result, url) => (Result.isSuccess(result) ? result : attempt(url)), attempt(first))
