/**
 * An embedded relay for the integration tests, and people on it.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as BuzzClientNative from "@buzz-orchestra/relay/BuzzClientNative"
import * as Identity from "@buzz-orchestra/relay/Identity"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { FetchHttpClient } from "effect/http"
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import * as Programs from "./programs.ts"

const Keys = Layer.mergeAll(SchnorrWasm.layer, SecureRandom.layerWebCrypto, FetchHttpClient.layer)

/** A relay, a client for it, and the platform to start programs with. */
export const layerOn = <E, R>(relay: Layer.Layer<EmbeddedRelay, E, R>) =>
  Layer.mergeAll(relay, BuzzClientNative.layer).pipe(Layer.provideMerge(Keys), Layer.provideMerge(Programs.layer))

/** The same on a free port. */
export const layer = layerOn(
  EmbeddedRelay.layer().pipe(Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })))
)

/** Somebody with a name, as an actor and as the environment of a program. */
export interface Person {
  readonly name: string
  readonly identity: Identity.Identity
  readonly relayUrl: string
  readonly env: Record<string, string>
}

/** A fresh person with a profile. */
export const person = Effect.fnUntraced(function* (name: string) {
  const relay = yield* EmbeddedRelay
  const client = yield* BuzzClient
  const identity = yield* Identity.generate
  const one: Person = {
    name,
    identity,
    relayUrl: relay.url,
    env: { BUZZ_RELAY_URL: relay.url, BUZZ_PRIVATE_KEY: Redacted.value(identity.secretKey) }
  }
  yield* client.setProfile(one, { name })
  return one
})

/** A private channel of the first person with the others in it. */
export const channel = Effect.fnUntraced(function* (owner: Person, ...members: ReadonlyArray<Person>) {
  const client = yield* BuzzClient
  const channelId = randomUUID()
  yield* client.createChannel(owner, { id: channelId, name: "test" })
  for (const { identity } of members)
    yield* client.addMember(owner, { channelId, pubkey: identity.pubkey, role: "member" })
  return channelId
})
