/**
 * What every `BuzzClient` promises on a relay that keeps Buzz's rules. Run with the double, and with the native client and the
 * one through the `buzz` program against the embedded relay, so that tests written against the double can be believed.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { BuzzClient, MAX_MESSAGE_BYTES } from "../../src/BuzzClient.ts"
import type { FoundChannel } from "../../src/FoundChannel.ts"
import type { RelayReason } from "../../src/RelayError.ts"
import { testIdentity } from "../../src/testing/TestIdentity.ts"
import { tagValues } from "../../src/NostrEvent.ts"

/** `relayUrl` says where the relay is once the layer is built. */
export const suite = <E, R>(
  name: string,
  services: Layer.Layer<BuzzClient | SecureRandom.SecureRandom | R, E>,
  relayUrl: Effect.Effect<string, never, R>
) => {
  const channel = Effect.gen(function* () {
    const client = yield* BuzzClient
    const url = yield* relayUrl
    const actor = (n: number) => ({ relayUrl: url, identity: testIdentity(n) })
    const asked = yield* SecureRandom.SecureRandom.use((random) => random.uuidV4())
    const [user, lead, stranger] = [actor(1), actor(2), actor(3)]
    const name = `trial-${asked}`
    const id = yield* client.createChannel(user, { id: asked, name })
    yield* client.addMember(user, { channelId: id, pubkey: lead.identity.pubkey, role: "member" })
    return { client, id, name, user, lead, stranger }
  })

  // One relay for all: each promise has a channel of its own.
  layer(services, { excludeTestServices: true })(`BuzzClient of ${name}`, (it) => {
    const promise = (title: string, body: Effect.Effect<void, unknown, BuzzClient | SecureRandom.SecureRandom | R>) =>
      it.effect(`${title}`, () => body)

    promise(
      "lists the creator as owner and others as they were added",
      Effect.gen(function* () {
        const { client, id, user, lead } = yield* channel
        const members = yield* client.members(user, id)
        assert.sameDeepMembers(
          [...members],
          [
            { pubkey: user.identity.pubkey, role: "owner" },
            { pubkey: lead.identity.pubkey, role: "member" }
          ]
        )
        yield* client.addMember(user, { channelId: id, pubkey: lead.identity.pubkey, role: "member" })
        assert.strictEqual((yield* client.members(user, id)).length, 2)
      })
    )

    promise(
      "finds channels of exactly this name, archived ones too",
      Effect.gen(function* () {
        const { client, id, name, user } = yield* channel
        yield* client.createChannel(user, {
          id: yield* SecureRandom.SecureRandom.use((random) => random.uuidV4()),
          name: `${name} two`
        })
        const mine = (found: ReadonlyArray<FoundChannel>) => found.filter(({ channelId }) => channelId === id)
        const found = yield* client.findChannels(user, name.toUpperCase())
        assert.isTrue(found.every((channel) => channel.name === name))
        const [seen] = mine(found)
        assert.deepInclude(seen, { name, type: "stream", visibility: "private", isArchived: false })
        yield* client.archiveChannel(user, id)
        assert.deepInclude(mine(yield* client.findChannels(user, name))[0], { isArchived: true, ttlSeconds: null })
        assert.deepStrictEqual(yield* client.findChannels(user, name.slice(0, -1)), [])
      })
    )

    promise(
      "creates a channel of one's own again without a word, and never another's",
      Effect.gen(function* () {
        const { client, id, name, user, stranger } = yield* channel
        assert.strictEqual(yield* client.createChannel(user, { id, name }), id)
        const other = yield* Effect.result(client.createChannel(stranger, { id, name }))
        if (Result.isFailure(other)) assert.strictEqual(other.failure.reason._tag, "RelayRefused")
        else assert.notStrictEqual(other.success, id)
        const members = yield* client.members(user, id)
        assert.notInclude(
          members.map(({ pubkey }) => pubkey),
          stranger.identity.pubkey
        )
      })
    )

    promise(
      "posts content as it is, with mentions by key and replies by id",
      Effect.gen(function* () {
        const { client, id, user, lead } = yield* channel
        const content = `@lead-1 "quoted" \\ 'x' $(no) \n\t ünïcode 🐝 ${"x".repeat(100)}`
        const task = yield* client.send(user, { channelId: id, content, mentions: [lead.identity.pubkey] })
        const reply = yield* client.send(lead, { channelId: id, content: "yes", replyTo: task.id })
        const events = yield* client.readChannel(user, id)
        const stored = events.find((event) => event.id === task.id)
        assert.strictEqual(stored?.content, content)
        assert.deepStrictEqual(stored === undefined ? [] : tagValues(stored, "p"), [lead.identity.pubkey])
        assert.deepStrictEqual(
          events.find((event) => event.id === reply.id)?.tags.filter(([name]) => name === "e"),
          [["e", task.id, "", "reply"]]
        )
      })
    )

    promise(
      "takes a message up to the limit in bytes and refuses a longer one",
      Effect.gen(function* () {
        const { client, id, user } = yield* channel
        yield* client.send(user, { channelId: id, content: "x".repeat(MAX_MESSAGE_BYTES) })
        const content = "x".repeat(MAX_MESSAGE_BYTES + 1)
        assert.strictEqual((yield* reason(client.send(user, { channelId: id, content })))._tag, "MessageTooLong")
      })
    )

    promise(
      "keeps strangers out: they read nothing, write nothing, invite nobody",
      Effect.gen(function* () {
        const { client, id, user, stranger } = yield* channel
        yield* client.send(user, { channelId: id, content: "secret" })
        assert.deepStrictEqual(yield* client.readChannel(stranger, id), [])
        const { pubkey } = stranger.identity
        for (const attempt of [
          client.send(stranger, { channelId: id, content: "hello" }),
          client.addMember(stranger, { channelId: id, pubkey, role: "member" }),
          client.archiveChannel(stranger, id)
        ]) {
          assert.strictEqual((yield* reason<unknown>(attempt))._tag, "RelayRefused")
        }
      })
    )

    promise(
      "refuses a reply to what is not there",
      Effect.gen(function* () {
        const { client, id, user } = yield* channel
        const failed = yield* reason(client.send(user, { channelId: id, content: "x", replyTo: "0".repeat(64) }))
        assert.strictEqual(failed._tag, "RelayRefused")
      })
    )

    promise(
      "archives once, may be told again, and takes no message afterwards",
      Effect.gen(function* () {
        const { client, id, user } = yield* channel
        yield* client.archiveChannel(user, id)
        yield* client.archiveChannel(user, id)
        const { _tag } = yield* reason(client.send(user, { channelId: id, content: "late" }))
        assert.strictEqual(_tag, "RelayRefused")
      })
    )

    promise(
      "publishes a profile as often as it is asked to",
      Effect.gen(function* () {
        const { client, user } = yield* channel
        const pubkeys = [user.identity.pubkey, "f".repeat(64)]
        assert.deepStrictEqual(yield* client.profiles(user, [user.identity.pubkey]), [])
        yield* client.setProfile(user, { name: "user", about: "a person" })
        assert.deepStrictEqual(yield* client.profiles(user, pubkeys), [{ pubkey: user.identity.pubkey, name: "user" }])
        yield* client.setProfile(user, { name: "the user" })
        assert.strictEqual((yield* client.profiles(user, pubkeys))[0]?.name, "the user")
      })
    )

    promise(
      "reads only the kinds that were asked for",
      Effect.gen(function* () {
        const { client, id, user } = yield* channel
        const { id: message } = yield* client.send(user, { channelId: id, content: "hello" })
        assert.deepStrictEqual(yield* client.readChannel(user, id, { kinds: [40_003] }), [])
        const read = yield* client.readChannel(user, id, { kinds: [9] })
        assert.deepStrictEqual(
          read.map((event) => event.id),
          [message]
        )
      })
    )
  })
}

const reason = <A>(effect: Effect.Effect<A, { readonly reason: RelayReason }>) =>
  Effect.map(Effect.flip(effect), (error) => error.reason)
