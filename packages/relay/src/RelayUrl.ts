/**
 * One relay is written in several ways: over HTTP or WebSocket, with or without a trailing slash, as `localhost` or
 * `127.0.0.1`. Pure conversions between them; the spelling of the host is kept, because relays may select by it.
 */
import { Result } from "effect"
import { RelayUrlInvalid } from "./RelayError.ts"
import type { TrialHandle } from "./TrialHandle.ts"

const SCHEMES = ["ws", "wss", "http", "https"] as const
type Scheme = (typeof SCHEMES)[number]

const ANY_VIEW = "http://, https://, ws:// or wss://"

/** The relay over HTTP (`http://` or `https://`), without a trailing slash. */
export const toHttp = (url: string): Result.Result<string, RelayUrlInvalid> =>
  Result.map(split(url, SCHEMES, ANY_VIEW), ({ rest, secure }) => `${secure ? "https" : "http"}://${rest}`)

/** The relay over WebSocket (`ws://` or `wss://`), without a trailing slash. */
export const toWs = (url: string): Result.Result<string, RelayUrlInvalid> =>
  Result.map(split(url, SCHEMES, ANY_VIEW), ({ rest, secure }) => `${secure ? "wss" : "ws"}://${rest}`)

/** The URL that agents dial: `ws://` or `wss://` only, without a trailing slash. */
export const agentRelayUrl = (url: string): Result.Result<string, RelayUrlInvalid> =>
  Result.map(split(url, ["ws", "wss"], "ws:// or wss://"), ({ rest, scheme }) => `${scheme}://${rest}`)

/**
 * The relay as the user on the host sees it, over HTTP: the handle's own host view, else derived from the agents' URL,
 * which must then be `ws://` or `wss://`.
 */
export const userRelayUrl = (
  handle: Pick<TrialHandle, "relayUrl" | "userRelayUrl">
): Result.Result<string, RelayUrlInvalid> =>
  handle.userRelayUrl === undefined
    ? Result.flatMap(agentRelayUrl(handle.relayUrl), toHttp)
    : toHttp(handle.userRelayUrl)

/**
 * `host:port` that a forwarder listens on in an agent's environment to stand in for the relay. Only `ws://`: a byte bridge
 * cannot end TLS. `localhost` becomes `127.0.0.1` (a dual-stack name would bind one family and be dialled on the other);
 * the port is 80 when the URL names none.
 */
export const authority = (url: string): Result.Result<string, RelayUrlInvalid> =>
  Result.map(split(url, ["ws"], "ws://"), ({ parsed }) => `${loopback(parsed.hostname)}:${parsed.port || "80"}`)

/**
 * Whether two URLs name the same relay in the same view. Folded are the case of scheme and host, `localhost` and
 * `127.0.0.1`, a default port, and a trailing slash; `ws://` and `http://` differ.
 */
export const sameRelay = (a: string, b: string): boolean => normalize(a) === normalize(b)

/** The form in which `sameRelay` compares; text that is no URL stays as it is. */
export const normalize = (url: string): string => {
  const parsed = URL.parse(url)
  if (parsed === null || parsed.hostname === "") return url
  const port = parsed.port === "" ? "" : `:${parsed.port}`
  return `${parsed.protocol}//${loopback(parsed.hostname)}${port}${parsed.pathname.replace(/\/$/, "")}${parsed.search}`
}

const loopback = (hostname: string): string => (hostname === "localhost" ? "127.0.0.1" : hostname)

const split = (
  url: string,
  schemes: ReadonlyArray<Scheme>,
  expected: string
): Result.Result<
  { readonly scheme: Scheme; readonly secure: boolean; readonly rest: string; readonly parsed: URL },
  RelayUrlInvalid
> => {
  const parsed = URL.parse(url)
  const scheme = schemes.find((scheme) => parsed?.protocol === `${scheme}:`)
  const isPlain = parsed !== null && parsed.hostname !== "" && !/[?#@]/.test(url)
  if (!isPlain || scheme === undefined) return Result.fail(new RelayUrlInvalid({ url: withoutUserInfo(url), expected }))
  const rest = url
    .trim()
    .replace(/^[a-z]+:\/\//i, "")
    .replace(/\/+$/, "")
  return Result.succeed({ scheme, secure: scheme === "wss" || scheme === "https", rest, parsed })
}

/** An error must not carry a password that somebody wrote into the URL. */
const withoutUserInfo = (url: string): string => url.replace(/\/\/[^/@]*@/, "//")
