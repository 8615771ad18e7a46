/**
 * Whatever happens to connection and relay, a watched channel is seen whole, each event once, and nothing else; the
 * orchestrator's `DONE:` is neither missed nor invented. The observer, the client and the connection are the real ones.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as BuzzClientNative from "../../src/BuzzClientNative.ts"
import * as EventKind from "../../src/EventKind.ts"
import type { NostrEvent } from "../../src/NostrEvent.ts"
import { RelayObserver } from "../../src/RelayObserver.ts"
import * as RelayObserverLive from "../../src/RelayObserverLive.ts"
import { Schnorr } from "../../src/Schnorr.ts"
import * as Cases from "../../../runtime/test/matrix/support/Cases.ts"
import { simulate } from "../../../runtime/test/matrix/support/Simulation.ts"
import { person, sign, toySchnorr } from "../server/support.ts"
import { Schedule, type Step } from "./Schedule.ts"
import { ScheduledRelay } from "./ScheduledRelay.ts"

const CHANNEL = "11111111-1111-4111-8111-111111111111"
/** When a simulation begins, in seconds. */
const START = Date.UTC(2026, 0, 1) / 1000
const [user, lead, worker] = [person("user"), person("lead"), person("worker")]

/** Until a rate limit was waited out, and a connection tried again after its longest pause. */
const LONGEST = "150 seconds"

type Message = Schedule["history"][number]

/** One run: what a schedule did so far, and the counters that make every event another. */
class World {
  readonly relay = new ScheduledRelay()
  readonly expected: Array<NostrEvent> = []
  readonly forged: Array<NostrEvent> = []
  private count = 0

  publish({ by, fate, skew, text }: Message): NostrEvent {
    const author = by === "lead" ? lead : worker
    const event = this.message(author, text, skew)
    this.expected.push(event)
    this.relay.publish(event, fate)
    return event
  }

  task(): NostrEvent {
    const event = this.message(user, "the task", 0)
    this.expected.push(event)
    this.relay.publish(event, "delivered")
    return event
  }

  forge(what: Extract<Step, { readonly _tag: "Forge" }>["what"]): void {
    const genuine = this.message(lead, "DONE: forged", 0)
    const forged = FORGERIES[what](genuine)
    this.forged.push(forged)
    this.relay.forge(forged)
  }

  private message(author: typeof lead, text: string, skew: number): NostrEvent {
    const content = `${text} ${this.count++}`
    return sign(author, { kind: 9, created_at: START + skew, tags: [["h", CHANNEL]], content })
  }
}

const FORGERIES = {
  signature: (event: NostrEvent): NostrEvent => ({ ...event, sig: "0".repeat(128) }),
  id: (event: NostrEvent): NostrEvent => ({ ...event, content: `${event.content}!` }),
  author: (event: NostrEvent): NostrEvent => ({ ...sign(worker, { ...event }), pubkey: lead.pubkey }),
  channel: (event: NostrEvent): NostrEvent => sign(lead, { ...event, tags: [["h", "another"]] }),
  edit: (event: NostrEvent): NostrEvent => ({
    ...sign(worker, { ...event, kind: EventKind.MessageEdit }),
    pubkey: lead.pubkey
  }),
  reaction: (event: NostrEvent): NostrEvent => sign(lead, { ...event, kind: 1, tags: [] }),
  "system message": (event: NostrEvent): NostrEvent => sign(lead, { ...event, kind: EventKind.SystemMessage, tags: [] })
}

const play = Effect.fnUntraced(function* (world: World, step: Step) {
  const { relay } = world
  switch (step._tag) {
    case "Publish":
      world.publish(step)
      break
    case "Forge":
      world.forge(step.what)
      break
    case "Cut":
      relay.cut()
      break
    case "HalfOpen":
      relay.goSilent()
      break
    case "Restart":
      relay.isUp = false
      relay.cut()
      yield* Effect.sleep(`${step.seconds} seconds`)
      relay.isUp = true
      break
    case "Trouble":
      for (let n = 0; n < step.requests; n++) relay.troubles.push(step.status)
      break
    case "Slow":
      relay.pageMillis = step.seconds * 1000
      break
    case "Close":
      relay.closeSubscriptions(step.text)
      break
    case "NoEose":
      relay.skipsEose = 1
      break
    case "Busy":
      relay.isBusy = true
      break
    case "RefuseAuth":
      relay.refusesAuth = 1
      break
    case "Wait":
      relay.flush()
      yield* Effect.sleep(`${step.seconds} seconds`)
      break
  }
  yield* Effect.sleep("10 millis")
})

/** What a schedule comes to: what was seen, and which message ended the waiting, if one did. */
const run = Effect.fnUntraced(function* (schedule: Schedule) {
  const world = new World()
  for (const message of schedule.history) world.publish(message)
  const services = RelayObserverLive.layer.pipe(
    Layer.provide(BuzzClientNative.layer),
    Layer.provide([world.relay.layer, Layer.succeed(Schnorr, toySchnorr), SecureRandom.layerWebCrypto])
  )
  return yield* Effect.gen(function* () {
    const observer = yield* RelayObserver
    const actor = { relayUrl: "ws://relay", identity: user }
    const observation = yield* observer.observe({ actor, channelId: CHANNEL })
    for (const step of schedule.before) yield* play(world, step)
    const known = new Set((yield* observation.seen).map(({ id }) => id))
    const early = new Set(world.expected.map(({ id }) => id))
    const task = world.task()
    const waiting = yield* Effect.forkScoped(observation.awaitDone({ orchestrator: lead.pubkey, after: task.id }), {
      startImmediately: true
    })
    for (const step of schedule.after) yield* play(world, step)
    world.relay.heal()
    // A silent connection is noticed in 25 s, and the channel is read every 30.
    yield* Effect.sleep(Cases.SOAKING ? LONGEST : "40 seconds")
    if ((yield* observation.seen).length < world.expected.length) yield* Effect.sleep(LONGEST)
    const seen = yield* observation.seen
    const done = waiting.pollUnsafe() === undefined ? undefined : yield* Fiber.join(waiting)
    return { world, seen, done, known, early }
  }).pipe(Effect.scoped, Effect.provide(services))
})

const isDone = (event: NostrEvent) => event.pubkey === lead.pubkey && event.content.startsWith("DONE:")

describe("a channel that is watched", () => {
  it.effect.prop(
    "is seen whole, each event once, and its DONE: is neither missed nor invented",
    [Schedule, Cases.upTo(0xff_ff_ff_ff)],
    ([schedule, seed]) =>
      Effect.sync(() => {
        const { exit } = simulate(run(schedule), { seed })
        if (exit === undefined || Exit.isFailure(exit)) return assert.fail(`it ended with ${String(exit)}`)
        const { done, early, known, seen, world } = exit.value
        const ids = (events: ReadonlyArray<NostrEvent>) => events.map(({ id }) => id).toSorted()
        assert.deepStrictEqual(ids(seen), ids(world.expected))
        const dones = world.expected.filter(isDone)
        const isLate = ({ id }: NostrEvent) => !early.has(id)
        if (dones.some(isLate)) assert.isDefined(done, "a DONE: after the task was missed")
        if (done === undefined) return
        assert.include(ids(dones), done.id, "a DONE: was invented")
        assert.isFalse(known.has(done.id), "a DONE: that was seen before the task ended it")
      }),
    { arbitrary: Cases.options(500, 10_000), timeout: Cases.timeout(60_000) }
  )
})
