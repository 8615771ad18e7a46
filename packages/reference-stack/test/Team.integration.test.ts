// @module-tag thorough
import * as Forwarder from "@buzz-orchestra/reference-stack/relay-forwarder/Forwarder"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, FileSystem, Layer, Scope } from "effect"
import { createServer } from "node:http"
import { launch } from "./launch.ts"
import * as Programs from "./programs.ts"
import * as Relay from "./relay.ts"

const PLAYBOOK = `
agents:
  lead-1:
    - when: make hello
      steps:
        - shell: buzz messages send --channel {channel} --mention {member:implementer-1} --content 'write hello.txt'
    - when: written
      steps:
        - read_file: hello.txt
        - expect: "1:Hello, world!"
        - shell: "buzz messages send --channel {channel} --content 'DONE: hello.txt is there'"
  implementer-1:
    - steps:
        - shell: echo 'Hello, world!' > hello.txt
        - shell: buzz messages send --channel {channel} --reply-to {event} --content '@lead-1 written'
`

layer(Relay.layer, { excludeTestServices: true })("a team", (it) => {
  it.effect(
    "delegates by mention, works in one directory, and ends with DONE",
    () =>
      Effect.gen(function* () {
        const client = yield* BuzzClient
        const fileSystem = yield* FileSystem.FileSystem
        const cwd = yield* fileSystem.makeTempDirectoryScoped({ prefix: "team-test-" })
        const user = yield* Relay.person("user")
        const team = yield* Effect.forEach(["lead-1", "implementer-1"], (name) => Relay.person(name))
        const channel = yield* Relay.channel(user, ...team)
        const agents = yield* Effect.forEach(
          team,
          (self) =>
            launch({ self, user, channel, cwd, playbook: PLAYBOOK, team: team.filter((other) => other !== self) }),
          { concurrency: "unbounded" }
        )
        const lead = team[0]
        yield* client.send(user, {
          channelId: channel,
          content: "@lead-1 make hello",
          mentions: lead === undefined ? [] : [lead.identity.pubkey]
        })
        for (let turn = 1; turn <= 2; turn++)
          yield* (agents[0] ?? (yield* Effect.die("no lead"))).awaitOutput("turn complete", turn)
        const messages = yield* client.readChannel(user, channel, { kinds: [EventKind.Message] })
        const names = new Map([user, ...team].map(({ identity, name }) => [identity.pubkey, name]))
        assert.deepStrictEqual(
          new Set(messages.map(({ content, pubkey }) => `${names.get(pubkey)}: ${content}`)),
          new Set([
            "user: @lead-1 make hello",
            "lead-1: write hello.txt",
            "implementer-1: @lead-1 written",
            "lead-1: DONE: hello.txt is there"
          ])
        )
        assert.strictEqual(yield* fileSystem.readFileString(`${cwd}/hello.txt`), "Hello, world!\n")
      }),
    Programs.SLOW
  )
})

layer(Programs.layer, { excludeTestServices: true })("a relay behind the forwarder", (it) => {
  it.effect(
    "what is said while the connection is down is heard after it is back",
    () =>
      Effect.gen(function* () {
        const port = yield* Programs.freePort
        const url = `ws://127.0.0.1:${port}`
        const server = NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })
        yield* Effect.gen(function* () {
          const client = yield* BuzzClient
          const relay = yield* EmbeddedRelay
          const forward = Effect.gen(function* () {
            const scope = yield* Scope.fork(yield* Effect.scope)
            const target = { host: "127.0.0.1", port: Number(new URL(relay.url).port) }
            yield* Scope.provide(Forwarder.forward({ host: "127.0.0.1", port }, target), scope)
            return { cut: Scope.close(scope, Exit.void) }
          })
          const { cut } = yield* forward
          const user = yield* Relay.person("user")
          const self = yield* Relay.person("solo-1")
          const channel = yield* Relay.channel(user, self)
          const acp = yield* launch({
            self,
            user,
            channel,
            playbook: "agents: { solo-1: [{ when: again, steps: [{ say: heard }] }] }",
            env: { BUZZ_RELAY_URL: url, BUZZ_ACP_MCP_COMMAND: "" }
          })
          yield* cut
          yield* acp.awaitOutput("relay event stream ended — requesting reconnect")
          const content = "are you there again?"
          const task = yield* client.send(user, { channelId: channel, content, mentions: [self.identity.pubkey] })
          yield* forward
          const output = yield* acp.awaitOutput(`turn delivered Buzz events for channel ${channel}: ${task.id}\n`)
          assert.include(output, "reconnected to relay")
          assert.include(output, "acp::stream: heard")
        }).pipe(Effect.provide(Relay.layerOn(EmbeddedRelay.layer({ urls: [url] }).pipe(Layer.provide(server)))))
      }),
    Programs.SLOW
  )
})
