import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import * as Identity from "@buzz-orchestra/relay/Identity"
import * as RelayConnection from "@buzz-orchestra/relay/RelayConnection"
import { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import * as NodeWS from "@effect/platform-node/NodeWS"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Stream } from "effect"
import { launch } from "./launch.ts"
import * as Programs from "./programs.ts"
import * as Relay from "./relay.ts"

const TestLayer = Layer.merge(Relay.layer, NodeWS.layerWebSocketConstructor)

layer(TestLayer, { excludeTestServices: true })("buzz-acp among people", (it) => {
  it.effect(
    "shows that it saw, works and types, takes the signs back, and knows who speaks",
    () =>
      Effect.gen(function* () {
        const client = yield* BuzzClient
        const user = yield* Relay.person("Ada Lovelace")
        const self = yield* Relay.person("solo-1")
        const channel = yield* Relay.channel(user, self)
        const connection = yield* RelayConnection.open({ url: user.relayUrl, identity: user.identity })
        const watch = (id: string, filter: Parameters<typeof connection.subscribe>[1], count: number) =>
          connection.subscribe(id, filter).pipe(
            Stream.filter((item) => item._tag === "Event"),
            Stream.map(({ event }) => event),
            Stream.filter(({ pubkey }) => pubkey === self.identity.pubkey),
            Stream.take(count),
            Stream.runCollect,
            Effect.forkChild({ startImmediately: true })
          )
        const kinds = [EventKind.Reaction, EventKind.Deletion, EventKind.Typing]
        const signs = yield* watch("signs", [{ kinds, "#h": [channel] }], 5)
        const presence = yield* watch("presence", [{ kinds: [EventKind.Presence] }], 1)
        const acp = yield* launch({
          self,
          user,
          channel,
          playbook: `agents: { solo-1: [{ when: "From: Ada Lovelace (", steps: [{ say: I know you }] }] }`
        })
        yield* client.send(user, { channelId: channel, content: "hello", mentions: [self.identity.pubkey] })
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
    Programs.SLOW
  )

  it.effect(
    "answers only its owner and agents of the same owner, when it is told to",
    () =>
      Effect.gen(function* () {
        const client = yield* BuzzClient
        const schnorr = yield* Schnorr
        const owner = yield* Relay.person("owner")
        const stranger = yield* Relay.person("stranger")
        const attest = (person: Relay.Person): Relay.Person => {
          const identity = Identity.attested(schnorr, person.identity, owner.identity)
          const tag = identity.authTag === undefined ? "" : Redacted.value(identity.authTag)
          return { ...person, identity, env: { ...person.env, BUZZ_AUTH_TAG: tag } }
        }
        const self = attest(yield* Relay.person("solo-1"))
        const sibling = attest(yield* Relay.person("sibling"))
        // What makes it one for others: its profile carries the attestation.
        yield* client.setProfile(sibling, { name: "sibling" })
        const channel = yield* Relay.channel(owner, self, sibling, stranger)
        const acp = yield* launch({
          self,
          user: owner,
          channel,
          playbook: `agents: { solo-1: [{ repeat: true, steps: [{ say: at your service }] }] }`,
          env: { BUZZ_ACP_RESPOND_TO: "owner-only", RUST_LOG: "buzz_acp=debug,pool=info,acp=info" }
        })
        const say = (person: Relay.Person) =>
          client.send(person, { channelId: channel, content: "hello", mentions: [self.identity.pubkey] })
        const refused = yield* say(stranger)
        yield* acp.awaitOutput(`dropping event: author gate event_id=${refused.id}`)
        for (const person of [sibling, owner]) {
          const { id } = yield* say(person)
          yield* acp.awaitOutput(`turn delivered Buzz events for channel ${channel}: ${id}\n`)
        }
        assert.include(acp.output(), `owner resolved from BUZZ_AUTH_TAG: ${owner.identity.pubkey}`)
        assert.strictEqual(acp.output().split("turn starting").length - 1, 2)
      }),
    Programs.SLOW
  )

  it.effect(
    "breaks a turn off for a newer message and answers both together, when it is told to",
    () =>
      Effect.gen(function* () {
        const client = yield* BuzzClient
        const user = yield* Relay.person("user")
        const self = yield* Relay.person("solo-1")
        const channel = yield* Relay.channel(user, self)
        const acp = yield* launch({
          self,
          user,
          channel,
          playbook: `
agents:
  solo-1:
    - steps: [{ say: thinking }, { hang: until_cancelled }]
    - when: [first, second]
      steps: [{ say: both }]
`,
          env: { BUZZ_ACP_MULTIPLE_EVENT_HANDLING: "interrupt" }
        })
        const say = (content: string) =>
          client.send(user, { channelId: channel, content, mentions: [self.identity.pubkey] })
        const events = [yield* say("first")]
        yield* acp.awaitOutput("acp::stream: thinking")
        events.push(yield* say("second"))
        const ids = events.map(({ id }) => id).toSorted()
        const output = yield* acp.awaitOutput(`turn delivered Buzz events for channel ${channel}: ${ids.join(",")}\n`)
        assert.include(output, `turn cancelled for channel ${channel}`)
        assert.include(output, "acp::stream: both")
        assert.notInclude(output, "requeueing")
      }),
    Programs.SLOW
  )
})
