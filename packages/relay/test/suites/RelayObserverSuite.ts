/**
 * What every `RelayObserver` promises. Run with the double and over a real socket.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer, type Scope, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { BuzzClient, MAX_MESSAGE_BYTES } from "../../src/BuzzClient.ts"
import { RelayObserver } from "../../src/RelayObserver.ts"
import { testIdentity } from "../../src/testing/TestIdentity.ts"

/** `relayUrl` says where the relay is once the layer is built. */
export const suite = <E, R>(
  name: string,
  services: Layer.Layer<BuzzClient | RelayObserver | SecureRandom.SecureRandom | R, E>,
  relayUrl: Effect.Effect<string, never, R>
) => {
  const channel = Effect.gen(function* () {
    const client = yield* BuzzClient
    const observer = yield* RelayObserver
    const url = yield* relayUrl
    const actor = (n: number) => ({ relayUrl: url, identity: testIdentity(n) })
    const id = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
    const [user, lead, worker] = [actor(1), actor(2), actor(4)]
    yield* client.createChannel(user, { id, name: "trial" })
    for (const { identity } of [lead, worker]) {
      yield* client.addMember(user, { channelId: id, pubkey: identity.pubkey, role: "member" })
    }
    const say = (who: typeof user, content: string) => client.send(who, { channelId: id, content })
    return { observe: observer.observe({ actor: user, channelId: id }), observer, id, user, lead, worker, say, actor }
  })
  const promise = (
    title: string,
    body: Effect.Effect<void, unknown, BuzzClient | RelayObserver | SecureRandom.SecureRandom | R | Scope.Scope>
  ) => it.live(`${title}`, () => Effect.timeout(Effect.scoped(body), "15 seconds").pipe(Effect.provide(services)))

  describe(`RelayObserver of ${name}`, () => {
    promise(
      "shows history first, then what is new, to every subscriber from the beginning",
      Effect.gen(function* () {
        const { observe, say, user, lead } = yield* channel
        yield* say(user, "old")
        const observation = yield* observe
        assert.deepStrictEqual(contents(yield* observation.seen), ["old"])
        const first = yield* Effect.forkChild(Stream.runCollect(Stream.take(observation.events, 3)))
        yield* say(lead, "one")
        yield* say(user, "two")
        const expected = ["old", "one", "two"]
        assert.deepStrictEqual(contents(yield* Fiber.join(first)), expected)
        assert.deepStrictEqual(contents(yield* Stream.runCollect(Stream.take(observation.events, 3))), expected)
        assert.deepStrictEqual(contents(yield* observation.seen), expected)
      })
    )

    promise(
      "shows a message whose frame is larger than a relay takes",
      Effect.gen(function* () {
        const { observe, say, lead } = yield* channel
        const observation = yield* observe
        const long = "x".repeat(MAX_MESSAGE_BYTES)
        yield* say(lead, long)
        assert.deepStrictEqual(contents(yield* Stream.runCollect(Stream.take(observation.events, 1))), [long])
      })
    )

    promise(
      "reports the connection it has",
      Effect.gen(function* () {
        const { observe } = yield* channel
        const observation = yield* observe
        const [status] = yield* Stream.runCollect(Stream.take(observation.status, 1))
        assert.deepStrictEqual(status, { _tag: "Connected", attempt: 1 })
      })
    )

    promise(
      "waits for the orchestrator's DONE: after the task, and for nobody else's",
      Effect.gen(function* () {
        const { observe, say, user, lead, worker } = yield* channel
        yield* say(lead, "DONE: of an earlier phase")
        const observation = yield* observe
        const task = yield* say(user, "task")
        const waiting = yield* Effect.forkChild(
          observation.awaitDone({ orchestrator: lead.identity.pubkey, after: task.id }),
          { startImmediately: true }
        )
        yield* say(worker, "DONE: says the worker")
        yield* say(user, "DONE: says the user")
        yield* say(lead, "they said DONE: too early")
        yield* say(lead, "DONE: really")
        assert.strictEqual((yield* Fiber.join(waiting)).content, "DONE: really")
      })
    )

    promise(
      "finds a DONE: that came before anybody waited",
      Effect.gen(function* () {
        const { observe, say, user, lead } = yield* channel
        const observation = yield* observe
        const task = yield* say(user, "task")
        const done = yield* say(lead, "DONE: quickly")
        yield* Stream.runDrain(Stream.take(observation.events, 2))
        const found = yield* observation.awaitDone({ orchestrator: lead.identity.pubkey, after: task.id })
        assert.strictEqual(found.id, done.id)
      })
    )

    promise(
      "lets several wait, each for its own task",
      Effect.gen(function* () {
        const { observe, say, user, lead } = yield* channel
        const observation = yield* observe
        const wait = (after: string) =>
          Effect.forkChild(observation.awaitDone({ orchestrator: lead.identity.pubkey, after }), {
            startImmediately: true
          })
        const first = yield* wait((yield* say(user, "first task")).id)
        yield* say(lead, "DONE: first")
        const second = yield* wait((yield* say(user, "second task")).id)
        assert.strictEqual((yield* Fiber.join(first)).content, "DONE: first")
        yield* say(lead, "DONE: second")
        assert.strictEqual((yield* Fiber.join(second)).content, "DONE: second")
      })
    )

    promise(
      "refuses who is no member",
      Effect.gen(function* () {
        const { observer, id, actor } = yield* channel
        const error = yield* Effect.flip(observer.observe({ actor: actor(3), channelId: id }))
        assert.strictEqual(error.reason._tag, "RelayRefused")
      })
    )
  })
}

const contents = (events: ReadonlyArray<{ readonly content: string }>) => events.map(({ content }) => content)
