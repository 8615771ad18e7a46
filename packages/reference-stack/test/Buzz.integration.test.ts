// @module-tag thorough
import { answer } from "@buzz-orchestra/reference-stack/buzz/Buzz"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import { type NostrEvent, tagValues } from "@buzz-orchestra/relay/NostrEvent"
import type { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { ChildProcess } from "effect/process"
import * as Programs from "./programs.ts"
import * as Relay from "./relay.ts"

/** The answer of the program's function, in this process: what a process adds is tested by itself. */
const json = Effect.fnUntraced(function* (env: Record<string, string>, ...args: ReadonlyArray<string>) {
  const line = yield* Effect.timeout(answer(args, env), "15 seconds")
  assert.notInclude(line, "\n")
  return JSON.parse(line)
})

/** The same, when it must fail: the code and the line of JSON for stderr. */
const failure = Effect.fnUntraced(function* (env: Record<string, string>, ...args: ReadonlyArray<string>) {
  const exit = yield* Effect.flip(Effect.timeout(answer(args, env), "15 seconds"))
  if (exit._tag !== "ProgramExit") return yield* exit
  assert.notInclude(exit.stderr, "\n")
  return { code: exit.code, ...JSON.parse(exit.stderr) }
})

/** Runs the program once; its streams are kept apart. */
const buzz = Effect.fnUntraced(function* (
  env: Record<string, string>,
  args: ReadonlyArray<string>,
  stdin: string | undefined = undefined
) {
  const handle = yield* ChildProcess.make(yield* Programs.programPath("buzz"), args, {
    env: { ...Programs.BASE_ENVIRONMENT, ...env },
    stdin: stdin === undefined ? "ignore" : Stream.make(new TextEncoder().encode(stdin))
  })
  const [stdout, stderr, code] = yield* Effect.all(
    [
      Stream.mkString(Stream.decodeText(handle.stdout)),
      Stream.mkString(Stream.decodeText(handle.stderr)),
      handle.exitCode
    ],
    { concurrency: "unbounded" }
  ).pipe(Effect.timeout("15 seconds"))
  return { stdout, stderr, code }
})

const stored = Effect.fnUntraced(function* (reader: Relay.Person, channel: string, id: string) {
  const client = yield* BuzzClient
  const event = (yield* client.readChannel(reader, channel)).find((one) => one.id === id)
  assert.isDefined(event)
  return event as NostrEvent
})

layer(Relay.layer, { excludeTestServices: true })("buzz", (it) => {
  it.effect(
    "sets and reads profiles, keeping the fields that were not given",
    () =>
      Effect.gen(function* () {
        const { env, identity } = yield* Relay.person("before")
        const written = yield* json(env, "users", "set-profile", "--about", "tests things")
        assert.deepStrictEqual(Object.keys(written), ["accepted", "event_id", "message"])
        assert.isTrue(written.accepted)
        assert.deepStrictEqual(yield* json(env, "users", "get"), [
          { about: "tests things", display_name: "before", pubkey: identity.pubkey }
        ])
        assert.deepStrictEqual(yield* json(env, "--format", "compact", "users", "get", "--pubkey", identity.pubkey), [
          { display_name: "before", pubkey: identity.pubkey }
        ])
        assert.include((yield* failure(env, "users", "set-profile")).message, "at least one field required")
      }),
    Programs.SLOW
  )

  it.effect(
    "creates channels, adds members, lists and archives",
    () =>
      Effect.gen(function* () {
        const owner = yield* Relay.person("owner")
        const guest = yield* Relay.person("guest")
        const created = yield* json(
          owner.env,
          "channels",
          "create",
          "--name",
          "lab",
          "--type",
          "stream",
          "--visibility",
          "private",
          "--description",
          "d"
        )
        const channel: string = created.channel_id
        yield* json(
          owner.env,
          "channels",
          "add-member",
          "--channel",
          channel,
          "--pubkey",
          guest.identity.pubkey,
          "--role",
          "bot"
        )
        const members: ReadonlyArray<{ pubkey: string; role: string }> = yield* json(
          guest.env,
          "channels",
          "members",
          "--channel",
          channel
        )
        assert.deepStrictEqual(
          new Map(members.map(({ pubkey, role }) => [pubkey, role])),
          new Map([
            [owner.identity.pubkey, "owner"],
            [guest.identity.pubkey, "bot"]
          ])
        )
        const got = yield* json(owner.env, "channels", "get", "--channel", channel)
        assert.deepStrictEqual([got.channel_id, got.name, got.description], [channel, "lab", "d"])
        assert.isNull(yield* json(owner.env, "channels", "get", "--channel", "00000000-0000-4000-8000-000000000000"))
        assert.deepStrictEqual(yield* json(guest.env, "--format", "compact", "channels", "list", "--member"), [
          { channel_id: channel, name: "lab" }
        ])
        yield* json(owner.env, "channels", "archive", "--channel", channel)
        const refused = yield* failure(owner.env, "messages", "send", "--channel", channel, "--content", "late")
        assert.deepStrictEqual([refused.code, refused.error, refused.retryable], [2, "relay_error", false])
        assert.include(refused.message, "relay error 400: invalid: channel is archived")
      }),
    Programs.SLOW
  )

  it.effect(
    "joins what is open, leaves it, finds it by name, and closes and opens it again",
    () =>
      Effect.gen(function* () {
        const owner = yield* Relay.person("owner")
        const guest = yield* Relay.person("guest")
        const make = (name: string, ...more: ReadonlyArray<string>) =>
          json(owner.env, "channels", "create", "--name", name, "--type", "forum", ...more)
        const open: string = (yield* make("Town Hall", "--visibility", "open", "--description", "all")).channel_id
        const hidden: string = (yield* make("town hall cellar", "--visibility", "private")).channel_id
        const on = (person: Relay.Person, command: string, ...more: ReadonlyArray<string>) =>
          json(person.env, "channels", command, "--channel", open, ...more)
        const people: Effect.Effect<ReadonlyArray<{ pubkey: string; role: string }>, unknown, Schnorr> = on(
          owner,
          "members"
        )
        assert.isTrue((yield* on(guest, "join")).accepted)
        assert.deepInclude(yield* people, { pubkey: guest.identity.pubkey, role: "member" })
        yield* on(guest, "leave")
        yield* on(owner, "add-member", "--pubkey", guest.identity.pubkey)
        assert.lengthOf(yield* people, 2)
        yield* on(owner, "remove-member", "--pubkey", guest.identity.pubkey)
        assert.deepStrictEqual(yield* people, [{ pubkey: owner.identity.pubkey, role: "owner" }])

        const search = (person: Relay.Person, ...args: ReadonlyArray<string>) =>
          json(person.env, "channels", "search", "--query", ...args)
        const line = yield* answer(["channels", "search", "--query", "town hall", "--exact"], owner.env)
        // The order of the keys is part of the form.
        assert.strictEqual(
          line,
          `[{"channel_id":"${open}","name":"Town Hall","channel_type":"forum","visibility":"public","archived":false,"about":"all","topic":null,"purpose":null,"ttl_seconds":null}]`
        )
        const names = (found: ReadonlyArray<{ channel_id: string }>) => found.map(({ channel_id }) => channel_id)
        assert.deepStrictEqual(names(yield* search(owner, "HALL")), [open, hidden])
        assert.deepStrictEqual(names(yield* search(guest, "hall")), [open])
        yield* on(owner, "archive")
        assert.deepStrictEqual(yield* search(guest, "hall"), [])
        assert.deepStrictEqual(names(yield* search(guest, "hall", "--include-archived")), [open])
        yield* on(owner, "unarchive")
        assert.deepStrictEqual(names(yield* search(guest, "hall")), [open])
        assert.strictEqual((yield* failure(owner.env, "channels", "search", "--query", " ")).code, 1)
      }),
    Programs.SLOW
  )

  it.effect(
    "turns names and keys into mentions, and says nothing about names that nobody has",
    () =>
      Effect.gen(function* () {
        const ada = yield* Relay.person("Ada Lovelace")
        const bob = yield* Relay.person("bob-1")
        const eve = yield* Relay.person("eve")
        const channel = yield* Relay.channel(ada, bob, eve)
        const sent = yield* json(
          ada.env,
          "messages",
          "send",
          "--channel",
          channel,
          "--content",
          "@bob-1, ask @nobody and @Ada Lovelace"
        )
        const named = yield* stored(bob, channel, sent.event_id)
        // Oneself is never mentioned, as the real library has it.
        assert.deepStrictEqual(tagValues(named, "p"), [bob.identity.pubkey])
        const explicit = yield* json(
          bob.env,
          "messages",
          "send",
          "--channel",
          channel,
          "--content",
          "hi @bob-1 and @Ada Lovelace",
          "--mention",
          eve.identity.pubkey
        )
        // Who is named by key is meant, and nobody else: the text may hold whatever it likes.
        assert.deepStrictEqual(tagValues(yield* stored(ada, channel, explicit.event_id), "p"), [eve.identity.pubkey])
      }),
    Programs.SLOW
  )

  it.effect(
    "reads stdin as it is, replies with thread tags, and prints channel and thread in order",
    () =>
      Effect.gen(function* () {
        const ada = yield* Relay.person("ada")
        const channel = yield* Relay.channel(ada)
        const send = (content: string, ...more: ReadonlyArray<string>) =>
          json(ada.env, "messages", "send", "--channel", channel, `--content=${content}`, ...more)
        const piped = yield* buzz(
          ada.env,
          ["messages", "send", "--channel", channel, "--content", "-"],
          "line one\nline two\n"
        )
        assert.deepStrictEqual([piped.code, piped.stderr], [0, ""])
        assert.match(piped.stdout, /^[^\n]+\n$/)
        const root: string = JSON.parse(piped.stdout).event_id
        const reply = yield* send("--reply", "--reply-to", root)
        const deep = yield* send("deeper", "--reply-to", reply.event_id)
        assert.deepStrictEqual((yield* stored(ada, channel, deep.event_id)).tags, [
          ["h", channel],
          ["e", root, "", "root"],
          ["e", reply.event_id, "", "reply"]
        ])
        const other = yield* send("elsewhere")
        const all: ReadonlyArray<Record<string, unknown>> = yield* json(
          ada.env,
          "messages",
          "get",
          "--channel",
          channel
        )
        assert.deepStrictEqual(
          new Set(all.map(({ content }) => content)),
          new Set(["line one\nline two\n", "--reply", "deeper", "elsewhere"])
        )
        assert.deepStrictEqual(Object.keys(all[0] ?? {}), ["content", "created_at", "id", "kind", "pubkey", "tags"])
        const thread: ReadonlyArray<{ id: string }> = yield* json(
          ada.env,
          "messages",
          "thread",
          "--channel",
          channel,
          "--event",
          root
        )
        assert.deepStrictEqual(new Set(thread.map(({ id }) => id)), new Set([root, reply.event_id, deep.event_id]))
        assert.isFalse(thread.some(({ id }) => id === other.event_id))
        const shallow: ReadonlyArray<{ id: string }> = yield* json(
          ada.env,
          "messages",
          "thread",
          "--channel",
          channel,
          "--event",
          root,
          "--depth-limit",
          "1"
        )
        assert.deepStrictEqual(new Set(shallow.map(({ id }) => id)), new Set([root, reply.event_id]))
        const missing = yield* failure(
          ada.env,
          "messages",
          "send",
          "--channel",
          channel,
          "--content",
          "x",
          "--reply-to",
          "9".repeat(64)
        )
        assert.deepStrictEqual([missing.code, missing.error], [4, "error"])
      }),
    Programs.SLOW
  )

  it.effect(
    "prints everything, also to a reader that takes its time",
    () =>
      Effect.gen(function* () {
        const client = yield* BuzzClient
        const ada = yield* Relay.person("ada")
        const channel = yield* Relay.channel(ada)
        for (const letter of ["a", "b", "c"])
          yield* client.send(ada, { channelId: channel, content: letter.repeat(60_000) })
        const program = yield* Programs.programPath("buzz")
        const running = yield* Programs.start(
          "sh",
          ["-c", `${program} messages get --channel ${channel} | (sleep 0.5; wc -c)`],
          { env: ada.env }
        )
        assert.strictEqual(yield* Effect.timeout(running.exitCode, "15 seconds"), 0)
        const bytes = yield* running.awaitOutput("\n")
        assert.isAbove(Number(bytes), 180_000)
      }),
    Programs.SLOW
  )

  it.effect(
    "tells apart who may not, what is wrong, and who is not there, by exit code",
    () =>
      Effect.gen(function* () {
        const ada = yield* Relay.person("ada")
        const eve = yield* Relay.person("eve")
        const channel = yield* Relay.channel(ada)
        const send = ["messages", "send", "--channel", channel, "--content", "x"]
        const stranger = yield* failure(eve.env, ...send)
        assert.deepStrictEqual([stranger.code, stranger.error], [2, "relay_error"])
        assert.include(stranger.message, "not a channel member")
        const noKey = yield* failure({ BUZZ_RELAY_URL: ada.relayUrl }, ...send)
        assert.deepStrictEqual([noKey.code, noKey.error], [3, "auth_error"])
        const badKey = yield* failure({ ...ada.env, BUZZ_PRIVATE_KEY: "12345" }, ...send)
        assert.deepStrictEqual([badKey.code, badKey.error], [3, "key_error"])
        assert.notInclude(badKey.message, "12345")
        const badTag = yield* failure({ ...ada.env, BUZZ_AUTH_TAG: "[]" }, ...send)
        assert.deepStrictEqual([badTag.code, badTag.error], [3, "auth_error"])
        const noRelay = yield* failure({ ...ada.env, BUZZ_RELAY_URL: "ws://127.0.0.1:9" }, ...send)
        assert.deepStrictEqual([noRelay.code, noRelay.error, noRelay.retryable], [2, "network_error", true])
        for (const args of [
          ["messages", "send", "--channel", "general", "--content", "x"],
          ["messages", "sned"],
          [...send, "--kind", "7"],
          [...send, "--kind", "45003"],
          ["users", "get", "--name", "ada", "--pubkey", "9".repeat(64)],
          [],
          ["messages", "send", "--channel", channel, "--content", "x".repeat(65_537)]
        ]) {
          const wrong = yield* failure(ada.env, ...args)
          assert.deepStrictEqual([wrong.code, wrong.error], [1, "user_error"], args.slice(0, 2).join(" "))
        }
        // This is how a client finds out what a build can do.
        assert.match(yield* answer(["messages", "send", "--help"], {}), /^ +--mention <MENTION> /m)
        const printed = yield* buzz({ BUZZ_RELAY_URL: ada.relayUrl }, send)
        assert.deepStrictEqual([printed.code, printed.stdout], [3, ""])
        assert.match(printed.stderr, /^\{"error":"auth_error",[^\n]+\}\n$/)
      }),
    Programs.SLOW
  )
})
