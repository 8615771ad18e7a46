/**
 * An in-process Nostr relay with the Buzz rules, HTTP and WebSocket on one port, in memory. For demos, tests and
 * trials that need no relay of their own.
 *
 * It has no search, no uploads, no direct messages, no workflows and no administration of relay members, and refuses
 * the kinds of these. It answers pings and sends none: a peer that vanishes without a word is noticed when it is
 * written to.
 */
import { Context, Effect, Layer, Result } from "effect"
import type { SecureRandom } from "effect/crypto"
import { HttpRouter, HttpServer } from "effect/http"
import { NetAddress } from "effect/net"
import { signEvent } from "../EventSigning.ts"
import * as Identity from "../Identity.ts"
import * as RelayUrl from "../RelayUrl.ts"
import { Schnorr } from "../Schnorr.ts"
import * as HttpRoutes from "./HttpRoutes.ts"
import * as RelayHub from "./RelayHub.ts"
import * as RelayState from "./RelayState.ts"

/** How an embedded relay differs from an open one on its own port. */
export interface EmbeddedRelayOptions {
  /**
   * Further `ws://` or `wss://` URLs under which clients dial this relay, such as the one a forwarder stands in for.
   * Signed authorisations name the URL that was dialled; the bound address is always known, and `localhost` means
   * `127.0.0.1`.
   */
  readonly urls?: ReadonlyArray<string>
  /** The key with which the relay signs; fresh when absent. Never a user's key. */
  readonly relayKey?: Identity.Identity
  /** Closes the relay: it admits this owner (public key, 64 hex) and the keys it attested. */
  readonly closed?: { readonly owner: string }
  /** How far the `created_at` of an event may lie from the relay's clock. Default 900. */
  readonly clockSkewSeconds?: number
}

/** A running embedded relay: where it is and who it is. */
export class EmbeddedRelay extends Context.Service<
  EmbeddedRelay,
  {
    /** Canonical URL, such as `ws://127.0.0.1:43127`, without a trailing slash. */
    readonly url: string
    /** The relay's own key, which signs channel state (39000–39002). */
    readonly pubkey: string
  }
>()("@buzz-orchestra/relay/server/EmbeddedRelay") {
  /**
   * Serves on the given `HttpServer` until the layer's scope ends. Then connections are closed before the server is: a
   * server waits for open WebSockets, by default for many seconds.
   */
  static readonly layer = (
    options: EmbeddedRelayOptions = {}
  ): Layer.Layer<EmbeddedRelay, never, HttpServer.HttpServer | Schnorr | SecureRandom.SecureRandom> =>
    Layer.effect(
      EmbeddedRelay,
      Effect.gen(function* () {
        const server = yield* HttpServer.HttpServer
        const schnorr = yield* Schnorr
        const key = options.relayKey ?? (yield* Identity.generate)
        const url = loopbackUrl(server.address)
        const rules: RelayState.RelayRules = {
          pubkey: key.pubkey,
          schnorr,
          sign: (template) => signEvent(schnorr, template, key.secretKey),
          // A wrong URL here is a mistake of the program that embeds the relay, so it throws.
          urls: [url, ...(options.urls ?? []).map((other) => Result.getOrThrow(RelayUrl.toWs(other)))],
          closedTo: options.closed?.owner,
          clockSkewSeconds: options.clockSkewSeconds ?? RelayState.CLOCK_SKEW_SECONDS
        }
        const hub = yield* RelayHub.make(rules)
        const app = yield* HttpRouter.toHttpEffect(HttpRoutes.layer(hub, key.pubkey))
        yield* HttpServer.serveEffect(app)
        yield* Effect.addFinalizer(() => hub.shutdown)
        return EmbeddedRelay.of({ url, pubkey: key.pubkey })
      })
    )
}

const loopbackUrl = (address: NetAddress.SocketAddress): string => {
  if (NetAddress.isUnixPathAddress(address))
    throw new TypeError("the embedded relay needs a TCP port, not a unix socket")
  return `ws://127.0.0.1:${address.port}`
}
