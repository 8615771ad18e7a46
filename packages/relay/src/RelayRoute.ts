/**
 * Newer relays choose a tenant by the name they are dialled by, and every signature names the relay's own URL. Where that
 * name does not lead there (a relay behind a tunnel, in a test network, on a port of its own), the connection goes to
 * another address, and URL, `Host` and signatures keep the name.
 */
import { Effect, Layer, Result } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { Socket } from "effect/socket"
import type { RelayUrlInvalid } from "./RelayError.ts"
import { toHttp, toWs } from "./RelayUrl.ts"

/** The relay by name, and the address it is dialled at. Both are http(s) or ws(s); the address decides about TLS. */
export interface RelayRoute {
  /** What signatures and `Host` say, such as `wss://team.relay.example`. */
  readonly relayUrl: string
  /** Where the connection goes, such as `ws://127.0.0.1:3600`. */
  readonly dialUrl: string
}

/** How one URL is dialled. */
export interface Dialled {
  readonly url: string
  /** Value of the `Host` header. */
  readonly host: string
}

/** How `url` is dialled by this route, or `undefined` for the URL of another relay, which is dialled as it is. */
export type Redirect = (url: string) => Dialled | undefined

/** The route as a function. Fails when one of its URLs is none of a relay. */
export const redirect = (route: RelayRoute): Result.Result<Redirect, RelayUrlInvalid> =>
  Result.gen(function* () {
    const views = [
      { name: yield* toHttp(route.relayUrl), address: yield* toHttp(route.dialUrl) },
      { name: yield* toWs(route.relayUrl), address: yield* toWs(route.dialUrl) }
    ]
    return (url) => {
      const view = views.find(({ name }) => url === name || url.startsWith(`${name}/`))
      if (view === undefined) return undefined
      return { url: view.address + url.slice(view.name.length), host: new URL(view.name).host }
    }
  })

/**
 * The given HTTP client and WebSocket constructor, by this route. Both must be able to send a `Host` of ours: undici and `ws`
 * can, a browser cannot.
 */
export const layer = (
  route: RelayRoute
): Layer.Layer<
  HttpClient.HttpClient | Socket.WebSocketConstructor,
  RelayUrlInvalid,
  HttpClient.HttpClient | Socket.WebSocketConstructor
> =>
  Layer.unwrap(
    Effect.map(Effect.fromResult(redirect(route)), (redirect) =>
      Layer.merge(
        Layer.effect(HttpClient.HttpClient, HttpClient.HttpClient.useSync(HttpClient.mapRequest(routed(redirect)))),
        Layer.effect(Socket.WebSocketConstructor, Socket.WebSocketConstructor.useSync(dialling(redirect)))
      )
    )
  )

const routed = (redirect: Redirect) => (request: HttpClientRequest.HttpClientRequest) => {
  const dialled = redirect(request.url)
  return dialled === undefined
    ? request
    : request.pipe(HttpClientRequest.setUrl(dialled.url), HttpClientRequest.setHeader("host", dialled.host))
}

type Dial = Socket.WebSocketConstructor["Service"]

const dialling =
  (redirect: Redirect) =>
  (dial: Dial): Dial =>
  (url, options) => {
    const dialled = redirect(url)
    if (dialled === undefined) return dial(url, options)
    const rest: Socket.WebSocketClientOptions =
      typeof options === "string" || Array.isArray(options) ? { protocols: options } : (options ?? {})
    return dial(dialled.url, { ...rest, headers: { ...rest.headers, host: dialled.host } })
  }
