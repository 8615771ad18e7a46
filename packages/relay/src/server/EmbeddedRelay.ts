/**
 * An in-process Nostr relay with the Buzz rules, HTTP and WebSocket on one port. For demos, tests and trials that need no relay
 * of their own.
 *
 * It has no uploads, no direct messages and no workflows, and refuses the kinds of these.
 */
import { Clock, Context, Effect, Layer, Result } from "effect"
import type { SecureRandom } from "effect/crypto"
import { HttpRouter, HttpServer } from "effect/http"
import { NetAddress } from "effect/net"
import { signEvent } from "../EventSigning.ts"
import * as Identity from "../Identity.ts"
import * as RelayUrl from "../RelayUrl.ts"
import { Schnorr, type SchnorrOps } from "../Schnorr.ts"
import * as HttpRoutes from "./HttpRoutes.ts"
import * as RelayHub from "./RelayHub.ts"
import * as RelayState from "./RelayState.ts"
import * as RelayVoice from "./RelayVoice.ts"
import { RelayStore, type RelayStoreError, type Snapshot } from "./RelayStore.ts"

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
  /**
   * Whether it answers only clients that dial one of `urls`, as their `Host` header has it: a relay that tells its tenants
   * apart by their names. With `urls`, the bound address is none of them then.
   */
  readonly hostBound?: boolean
  /**
   * Closes the relay: it admits this owner (public key, 64 hex), the members whom the owner and administrators add (NIP-43),
   * and, unless told otherwise, the keys that any of these attested (NIP-OA).
   */
  readonly closed?: { readonly owner: string; readonly admitsAttested?: boolean }
  /** How far the `created_at` of an event may lie from the relay's clock. Default 900. */
  readonly clockSkewSeconds?: number
  /** WebSockets at a time; more are answered with 503. Default 10 000. */
  readonly maxConnections?: number
  /** About how many bytes of events it keeps; then it answers `error: the relay is full` (507). Default 512 MiB. */
  readonly maxStoredBytes?: number
}

/**
 * Bytes of one frame that a server need collect before it gives up on the client: twice what the relay takes, which looks at
 * whole frames. A server that is not told so collects a hundred megabytes (`websocket: { maxPayload }` in `NodeHttpServer`).
 */
export const MAX_COLLECTED_FRAME_BYTES = 131_072

const MAX_CONNECTIONS = 10_000
const MAX_STORED_BYTES = 536_870_912

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
  /** `layerStored` with everything in memory: gone when the scope ends. */
  static readonly layer = (
    options: EmbeddedRelayOptions = {}
  ): Layer.Layer<EmbeddedRelay, never, HttpServer.HttpServer | Schnorr | SecureRandom.SecureRandom> =>
    EmbeddedRelay.layerStored(options).pipe(Layer.provide(RelayStore.layerMemory), Layer.orDie)

  /**
   * Serves on the given `HttpServer` until the layer's scope ends, and goes on where a relay over the same store has stopped.
   * At the end connections are closed before the server is: a server waits for open WebSockets, by default for many seconds.
   * Fails when the store cannot be read.
   */
  static readonly layerStored = (
    options: EmbeddedRelayOptions = {}
  ): Layer.Layer<
    EmbeddedRelay,
    RelayStoreError,
    HttpServer.HttpServer | Schnorr | SecureRandom.SecureRandom | RelayStore
  > =>
    Layer.effect(
      EmbeddedRelay,
      Effect.gen(function* () {
        const server = yield* HttpServer.HttpServer
        const store = yield* RelayStore
        const schnorr = yield* Schnorr
        const snapshot = yield* store.load
        const key = yield* relayKey(options, snapshot)
        const url = loopbackUrl(server.address)
        const rules = rulesFor(options, { key, schnorr, url })
        const begun = RelayVoice.begin(
          RelayState.restored(snapshot),
          rules,
          yield* Effect.map(Clock.currentTimeMillis, seconds)
        )
        yield* Effect.fromResult(store.commit([...begun.unsaved, { _tag: "RelayKey", secretKey: key.secretKey }]))
        const hub = yield* RelayHub.make(
          { ...begun, unsaved: [] },
          { rules, store, maxConnections: options.maxConnections ?? MAX_CONNECTIONS }
        )
        const app = yield* HttpRouter.toHttpEffect(HttpRoutes.layer(hub))
        yield* HttpServer.serveEffect(app)
        yield* Effect.addFinalizer(() => hub.shutdown)
        return EmbeddedRelay.of({ url, pubkey: key.pubkey })
      })
    )
}

const seconds = (millis: number): number => Math.floor(millis / 1000)

/** The key of the relay before this one, or a fresh one: what it signed names it. */
const relayKey = Effect.fnUntraced(function* (options: EmbeddedRelayOptions, { relayKey }: Snapshot) {
  if (options.relayKey !== undefined) return options.relayKey
  return relayKey === undefined ? yield* Identity.generate : yield* Effect.orDie(Identity.fromHex(relayKey))
})

const rulesFor = (
  options: EmbeddedRelayOptions,
  { key, schnorr, url }: { readonly key: Identity.Identity; readonly schnorr: SchnorrOps; readonly url: string }
): RelayState.RelayRules => {
  // A wrong URL here is a mistake of the program that embeds the relay, so it throws.
  const named = (options.urls ?? []).map((other) => Result.getOrThrow(RelayUrl.toWs(other)))
  const [first, ...others] = options.hostBound === true && named.length > 0 ? named : [url, ...named]
  const { closed } = options
  return {
    pubkey: key.pubkey,
    schnorr,
    sign: (template) => signEvent(schnorr, template, key.secretKey),
    urls: [first ?? url, ...others],
    isHostBound: options.hostBound === true,
    closed: closed === undefined ? undefined : { owner: closed.owner, admitsAttested: closed.admitsAttested ?? true },
    clockSkewSeconds: options.clockSkewSeconds ?? RelayState.CLOCK_SKEW_SECONDS,
    maxStoredBytes: options.maxStoredBytes ?? MAX_STORED_BYTES
  }
}

const loopbackUrl = (address: NetAddress.SocketAddress): string => {
  if (NetAddress.isUnixPathAddress(address))
    throw new TypeError("the embedded relay needs a TCP port, not a unix socket")
  return `ws://127.0.0.1:${address.port}`
}
