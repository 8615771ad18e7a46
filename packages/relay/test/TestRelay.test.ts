import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { inspect } from "node:util"
import { BuzzClient } from "../src/BuzzClient.ts"
import { RelayRefused, RelayUnreachable } from "../src/RelayError.ts"
import { RelayObserver } from "../src/RelayObserver.ts"
import { testIdentity } from "../src/testing/TestIdentity.ts"
import { TestRelay } from "../src/testing/TestRelay.ts"
import { testTrialHandle } from "../src/testing/TestTrialHandle.ts"
import * as BuzzClientSuite from "./suites/BuzzClientSuite.ts"
import * as RelayObserverSuite from "./suites/RelayObserverSuite.ts"

const services = Layer.merge(TestRelay.layer, SecureRandom.layerWebCrypto)
BuzzClientSuite.suite("the double", services, Effect.succeed("ws://relay.test"))
RelayObserverSuite.suite("the double", services, Effect.succeed("ws://relay.test"))

const handle = testTrialHandle()
const { channelId } = handle
const actor = { relayUrl: handle.relayUrl, identity: handle.user.identity }

it.effect("records every call with its secrets redacted, failed ones too", () =>
  Effect.gen(function* () {
    const relay = yield* TestRelay
    const client = yield* BuzzClient
    const planned = new RelayUnreachable({ url: actor.relayUrl, detail: "planned" })
    yield* relay.openChannel(handle)
    yield* relay.failNext("send", planned)
    const error = yield* Effect.flip(client.send(actor, { channelId, content: "first" }))
    assert.strictEqual(error.reason, planned)
    yield* client.send(actor, { channelId, content: "second" })
    const calls = yield* relay.calls
    assert.deepStrictEqual(
      calls.map(({ method, argument }) => ({ method, argument })),
      [
        { method: "send", argument: { channelId, content: "first" } },
        { method: "send", argument: { channelId, content: "second" } }
      ]
    )
    assert.notInclude(inspect(calls, { depth: 9 }), Redacted.value(actor.identity.secretKey))
  }).pipe(Effect.provide(services))
)

it.effect("lets the test speak for anybody and end the observation", () =>
  Effect.gen(function* () {
    const relay = yield* TestRelay
    const observer = yield* RelayObserver
    yield* relay.openChannel(handle)
    const observation = yield* observer.observe({ actor, channelId })
    const said = yield* relay.say(testIdentity(7), { channelId, content: "I am a stranger" })
    yield* relay.push(said)
    assert.deepStrictEqual(yield* observation.seen, [said])
    yield* relay.reportStatus({ _tag: "Reconnecting", attempt: 2, detail: "lost" })
    const [status] = yield* Stream.runCollect(Stream.take(observation.status, 1))
    assert.deepStrictEqual(status, { _tag: "Reconnecting", attempt: 2, detail: "lost" })
    yield* relay.endObservations(new RelayRefused({ url: "ws://relay", status: undefined, detail: "restricted: gone" }))
    const error = yield* Effect.flip(Stream.runDrain(observation.events))
    assert.include(error.message, "restricted: gone")
  }).pipe(Effect.scoped, Effect.provide(services))
)
