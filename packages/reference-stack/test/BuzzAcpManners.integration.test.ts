// @module-tag thorough
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import type { Filter } from "@buzz-orchestra/relay/Filter"
import * as Identity from "@buzz-orchestra/relay/Identity"
import * as RelayConnection from "@buzz-orchestra/relay/RelayConnection"
import { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import * as NodeWS from "@effect/platform-node/NodeWS"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { launch } from "./launch.ts"
import * as Programs from "./programs.ts"
import * as Relay from "./relay.ts"

const PLAYBOOK = `
agents:
  solo-1:
    - when: "From: Ada Lovelace ("
      steps: [{ say: I know you }]
    - when: hello
      repeat: true
      steps: [{ say: at your service }]
    - when: first
      steps: [{ say: thinking }, { hang: until_cancelled }]
    - when: [first, second]
      steps: [{ say: both }]
`

/** An agent without tools that answers its owner only, and breaks a turn off for what is newer; watched by the owner. */
const watched = Effect.gen(function* () {
  const client = yield* BuzzClient
  const schnorr = yield* Schnorr
  const owner = yield* Relay.person("Ada Lovelace")
  const attest = (person: Relay.Person): Relay.Person => {
    const identity = Identity.attested(schnorr, person.identity, owner.identity)
    const tag = identity.authTag === undefined ? "" : Redacted.value(identity.authTag)
    return { ...person, identity, env: { ...person.env, BUZZ_AUTH_TAG: tag } }
  }
  const self = attest(yield* Relay.person("solo-1"))
  const sibling = attest(yield* Relay.person("sibling"))
  // What makes it one for others: its profile carries the attestation.
  yield* client.setProfile(sibling, { name: "sibling" })
  const stranger = yield* Relay.person("stranger")
  const channel = yield* Relay.channel(owner, self, sibling, stranger)
  const connection = yield* RelayConnection.open({ url: owner.relayUrl, identity: owner.identity })
  const watch = (id: string, filter: Filter, count: number) =>
    connection.subscribe(id, [filter]).pipe(
      Stream.filter((item) => item._tag === "Event"),
      Stream.map(({ event }) => event),
      Stream.filter(({ pubkey }) => pubkey === self.identity.pubkey),
      Stream.take(count),
      Stream.runCollect,
      Effect.forkScoped({ startImmediately: true })
    )
  const kinds = [EventKind.Reaction, EventKind.Deletion, EventKind.Typing]
  const signs = yield* watch("signs", { kinds, "#h": [channel] }, 5)
  const presence = yield* watch("presence", { kinds: [EventKind.Presence] }, 1)
  const acp = yield* launch({
    self,
    user: owner,
    channel,
    playbook: PLAYBOOK,
    env: {
      BUZZ_ACP_RESPOND_TO: "owner-only",
      BUZZ_ACP_MULTIPLE_EVENT_HANDLING: "interrupt",
      BUZZ_ACP_MCP_COMMAND: "",
      RUST_LOG: "buzz_acp=debug,pool=info,acp=info"
    }
  })
  const say = (person: Relay.Person, content: string) =>
    client.send(person, { channelId: channel, content, mentions: [self.identity.pubkey] })
  return { acp, channel, owner, presence, say, sibling, signs, stranger }
})

class Watched extends Context.Service<Watched, Effect.Success<typeof watched>>()("test/Watched") {
  static readonly layer = Layer.effect(Watched, watched)
}

const TestLayer = Watched.layer.pipe(Layer.provideMerge(Layer.merge(Relay.layer, NodeWS.layerWebSocketConstructor)))

/** One after the other: they share the agent. */
const IN_ORDER = { ...Programs.SLOW, concurrent: false }

layer(TestLayer, { excludeTestServices: true, timeout: Programs.SLOW.timeout })("buzz-acp among people", (it) => {
  it.effect(
    "shows that it saw, works and types, takes the signs back, and knows who speaks",
    () =>
      Effect.gen(function* () {
        const { acp, owner, presence, say, signs } = yield* Watched
        yield* say(owner, "good morning")
        yield* acp.awaitOutput("acp::stream: I know you")
        assert.deepStrictEqual(
          (yield* Programs.joined(signs)).map(({ content, kind }) => `${kind} ${content}`).toSorted(),
          ["20002 ", "5 ", "5 ", "7 👀", "7 💬"]
        )
        assert.deepStrictEqual(
          (yield* Programs.joined(presence)).map(({ content }) => content),
          ["online"]
        )
      }),
    IN_ORDER
  )

  it.effect(
    "answers only its owner and agents of the same owner, when it is told to",
    () =>
      Effect.gen(function* () {
        const { acp, channel, owner, say, sibling, stranger } = yield* Watched
        const turns = () => acp.output().split("turn starting").length - 1
        const before = turns()
        const refused = yield* say(stranger, "hello")
        yield* acp.awaitOutput(`dropping event: author gate event_id=${refused.id}`)
        for (const person of [sibling, owner]) {
          const { id } = yield* say(person, "hello")
          yield* acp.awaitOutput(`turn delivered Buzz events for channel ${channel}: ${id}\n`)
        }
        assert.include(acp.output(), `owner resolved from BUZZ_AUTH_TAG: ${owner.identity.pubkey}`)
        assert.strictEqual(turns() - before, 2)
      }),
    IN_ORDER
  )

  it.effect(
    "breaks a turn off for a newer message and answers both together, when it is told to",
    () =>
      Effect.gen(function* () {
        const { acp, channel, owner, say } = yield* Watched
        const events = [yield* say(owner, "first")]
        yield* acp.awaitOutput("acp::stream: thinking")
        events.push(yield* say(owner, "second"))
        const ids = events.map(({ id }) => id).toSorted()
        const output = yield* acp.awaitOutput(`turn delivered Buzz events for channel ${channel}: ${ids.join(",")}\n`)
        assert.include(output, `turn cancelled for channel ${channel}`)
        assert.include(output, "acp::stream: both")
        assert.notInclude(output, "requeueing")
      }),
    IN_ORDER
  )
})
