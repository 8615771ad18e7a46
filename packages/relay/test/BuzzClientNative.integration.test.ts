import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { BuzzClient } from "../src/BuzzClient.ts"
import * as BuzzClientNative from "../src/BuzzClientNative.ts"
import * as Identity from "../src/Identity.ts"
import { pure } from "../src/Schnorr.ts"
import { EmbeddedRelay } from "../src/server/EmbeddedRelay.ts"
import { RelayFaults } from "../src/testing/RelayFaults.ts"
import { testIdentity } from "../src/testing/TestIdentity.ts"
import * as BuzzClientSuite from "./suites/BuzzClientSuite.ts"
import { bounded, platform, relay, relayWith } from "./support.ts"

const client = BuzzClientNative.layerWith({
  retry: {
    unreachable: { attempts: 6, baseMillis: 5, capMillis: 20 },
    rateLimited: { attempts: 7, baseMillis: 5, capMillis: 20 }
  }
})
const over = <A, E, R>(embedded: Layer.Layer<A, E, R>) =>
  client.pipe(Layer.provideMerge(embedded), Layer.provideMerge(platform))
const relayUrl = EmbeddedRelay.useSync(({ url }) => url)

BuzzClientSuite.suite("the embedded relay", over(relay), relayUrl)

const uuid = SecureRandom.SecureRandom.use((random) => random.uuidV4())

it.live("gets through faults of the relay with one stored message", () =>
  Effect.gen(function* () {
    const client = yield* BuzzClient
    const faults = yield* RelayFaults
    const user = { relayUrl: yield* relayUrl, identity: testIdentity(1) }
    const id = yield* uuid
    yield* faults.answerNext(1, { status: 502 })
    yield* client.createChannel(user, { id, name: "trial" })
    yield* faults.answerNext(2, { status: 429, path: "/events" })
    yield* faults.answerNext(1, { status: 503, path: "/events" })
    yield* faults.answerNext(2, { status: 504, path: "/query" })
    const sent = yield* client.send(user, { channelId: id, content: "once", mentions: [user.identity.pubkey] })
    assert.deepStrictEqual(
      (yield* client.readChannel(user, id)).map((event) => event.id),
      [sent.id]
    )
    assert.strictEqual(yield* faults.remaining, 0)
  }).pipe(bounded, Effect.provide(over(relay)))
)

it.live("is let into a closed relay by the owner's attestation, and not without it", () => {
  const owner = testIdentity(9)
  return Effect.gen(function* () {
    const client = yield* BuzzClient
    const url = yield* relayUrl
    const id = yield* uuid
    const agent = testIdentity(2)
    const refused = yield* Effect.flip(client.createChannel({ relayUrl: url, identity: agent }, { id, name: "trial" }))
    assert.strictEqual(refused.reason._tag, "RelayAuthRefused")
    const attested = { relayUrl: url, identity: Identity.attested(pure, agent, owner) }
    yield* client.createChannel(attested, { id, name: "trial" })
    yield* client.send({ relayUrl: url, identity: attested.identity }, { channelId: id, content: "in" })
  }).pipe(bounded, Effect.provide(over(relayWith({ closed: { owner: owner.pubkey } }))))
})
