/**
 * An in-process Nostr relay with the Buzz rules, HTTP and WebSocket on one port, in memory. For demos, tests and trials
 * that need no relay of their own.
 */
import { Context } from "effect"

export class EmbeddedRelay extends Context.Service<
  EmbeddedRelay,
  {
    /** Canonical URL, such as `ws://127.0.0.1:43127`, without a trailing slash. */
    readonly url: string
    /** The relay's own key, which signs channel state (39000–39002). */
    readonly pubkey: string
  }
>()("@buzz-orchestra/relay/server/EmbeddedRelay") {}
