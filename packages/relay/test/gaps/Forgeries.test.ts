/**
 * What looks like the end of a trial and is none. Each is shown live and read from the history, as a relay that checks nothing
 * would; then the orchestrator speaks, and only that counts.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as SchnorrWasm from "../../src/SchnorrWasm.ts"
import { simulate } from "../../../runtime/test/matrix/support/Simulation.ts"
import * as BuzzClientNative from "../../src/BuzzClientNative.ts"
import * as EventKind from "../../src/EventKind.ts"
import { eventId } from "../../src/EventSigning.ts"
import type { NostrEvent } from "../../src/NostrEvent.ts"
import { RelayObserver } from "../../src/RelayObserver.ts"
import * as RelayObserverLive from "../../src/RelayObserverLive.ts"
import { Schnorr } from "../../src/Schnorr.ts"
import { signedBy, testIdentity } from "../../src/testing/TestIdentity.ts"
import { ScheduledRelay } from "./ScheduledRelay.ts"

const CHANNEL = "11111111-1111-4111-8111-111111111111"
const [user, lead, worker] = [testIdentity(1), testIdentity(2), testIdentity(3)]
const tags = [["h", CHANNEL]] as const

const task = signedBy(user, { kind: 9, tags, content: "the task" })
const words = signedBy(lead, { kind: 9, tags, content: "words" })
const genuine = signedBy(lead, { kind: 9, tags, content: "DONE: really" })
const byLead = (kind: number, fields: Partial<NostrEvent> = {}) =>
  signedBy(lead, { kind, tags, content: "DONE: not really", ...fields })
const byWorker = signedBy(worker, { kind: 9, tags, content: "DONE: not really" })
const withId = (event: NostrEvent): NostrEvent => ({ ...event, id: eventId(event) })

/** Shown while the task is worked on. */
const FORGERIES: Readonly<Record<string, NostrEvent>> = {
  "of a wrong id": { ...byLead(9), content: "DONE: with another text" },
  "of a wrong signature": { ...byLead(9), sig: byWorker.sig },
  "of the signature of other words": withId({ ...byLead(9), content: "DONE: with another text" }),
  "in another's name": withId({ ...byWorker, pubkey: lead.pubkey }),
  "by another member": byWorker,
  "by the user": signedBy(user, { kind: 9, tags, content: "DONE: says the user" }),
  "in another channel": byLead(9, { tags: [["h", "22222222-2222-4222-8222-222222222222"]] }),
  "in no channel": byLead(9, { tags: [] }),
  "inside a quote": byLead(9, { content: "> DONE: said somebody" }),
  "after other words": byLead(9, { content: "not yet DONE: soon" }),
  "in other letters": byLead(9, { content: "Done: soon" }),
  "by an edit": byLead(EventKind.MessageEdit, { tags: [...tags, ["e", words.id]] }),
  "as a reaction": byLead(EventKind.Reaction, { tags: [["e", task.id]] }),
  "as a deletion's text": byLead(EventKind.Deletion, { tags: [...tags, ["e", words.id]] }),
  "as a system message": byLead(EventKind.SystemMessage),
  "while typing": byLead(EventKind.Typing)
}

const watched = Effect.fnUntraced(function* (
  play: (relay: ScheduledRelay) => void,
  history: ReadonlyArray<NostrEvent> = []
) {
  const schnorr = yield* Schnorr
  const relay = new ScheduledRelay()
  relay.stored.push(words, ...history)
  const program = Effect.gen(function* () {
    const observer = yield* RelayObserver
    const observation = yield* observer.observe({
      actor: { relayUrl: "ws://relay", identity: user },
      channelId: CHANNEL,
      kinds: [9, 40_002, 40_003, 5, 7, 9005, 20_002, 40_099]
    })
    relay.publish(task, "delivered")
    const waiting = yield* Effect.forkScoped(observation.awaitDone({ orchestrator: lead.pubkey, after: task.id }))
    play(relay)
    // Through a reconnect and a reading from time to time.
    relay.cut()
    yield* Effect.sleep("60 seconds")
    const early = waiting.pollUnsafe()
    if (early === undefined) relay.publish(genuine, "delivered")
    yield* Effect.sleep("1 second")
    return { early, done: yield* Fiber.join(waiting) }
  })
  const services = RelayObserverLive.layer.pipe(
    Layer.provide(BuzzClientNative.layer),
    Layer.provide([relay.layer, Layer.succeed(Schnorr, schnorr), SecureRandom.layerWebCrypto])
  )
  const { exit } = simulate(Effect.provide(Effect.scoped(program), services), { seed: 1 })
  if (exit === undefined || Exit.isFailure(exit)) throw new Error(`it ended with ${String(exit)}`)
  return exit.value
}, Effect.provide(SchnorrWasm.layerStrict))

describe("a DONE: that ends nothing", () => {
  for (const [name, forgery] of Object.entries(FORGERIES)) {
    it.effect(`is one ${name}`, () =>
      Effect.gen(function* () {
        const { done, early } = yield* watched((relay) => {
          relay.forge(forgery)
          relay.stored.push(forgery)
        })
        assert.isUndefined(early)
        assert.strictEqual(done.id, genuine.id)
      })
    )
  }

  it.effect("is one from before the task, whatever its time says, also when it is shown again", () =>
    Effect.gen(function* () {
      const stale = byLead(9, { created_at: task.created_at + 800, content: "DONE: of an earlier phase" })
      const { done, early } = yield* watched((relay) => relay.forge(stale), [stale])
      assert.isUndefined(early)
      assert.strictEqual(done.id, genuine.id)
    })
  )

  it.effect("and one that is genuine ends it, however it comes", () =>
    Effect.gen(function* () {
      const { done, early } = yield* watched((relay) => relay.publish(genuine, "lost"))
      assert.isDefined(early)
      assert.strictEqual(done.id, genuine.id)
    })
  )
})
