import { assert, describe, it } from "@effect/vitest"
import * as CommandFailed from "@buzz-orchestra/reference-stack/buzz/CommandFailed"
import * as CommandLine from "@buzz-orchestra/reference-stack/buzz/CommandLine"
import * as HelpText from "@buzz-orchestra/reference-stack/buzz/HelpText"
import * as Json from "@buzz-orchestra/reference-stack/buzz/Json"
import * as Mentions from "@buzz-orchestra/reference-stack/buzz/Mentions"
import { BridgeRefused, BridgeUnreachable } from "@buzz-orchestra/reference-stack/RelayBridge"
import * as Thread from "@buzz-orchestra/reference-stack/Thread"
import { Arbitrary, Result, Schema } from "effect"
import { createHash } from "node:crypto"
import { nip19 } from "nostr-tools"
import { npubDecode, npubEncode } from "../src/internal/bech32.ts"

const members: ReadonlyArray<Mentions.NamedMember> = [
  { pubkey: "ada", name: "Ada" },
  { pubkey: "ada-l", name: "Ada Lovelace" },
  { pubkey: "bob", name: "bob-1" },
  { pubkey: "bob2", name: "Bob-1" },
  { pubkey: "none", name: undefined }
]

const resolved = (content: string) => Mentions.resolve(content, members)

const refused = (status: number, hasAuthTag = false) =>
  CommandFailed.ofBridge(new BridgeRefused({ status, text: "no" }), hasAuthTag)

const at = (tags: ReadonlyArray<readonly [string, ...Array<string>]>) => ({ id: "me", tags })

describe("Mentions", () => {
  it("takes the longest known name that ends at a boundary, in any case", () => {
    assert.deepStrictEqual(resolved("@ada lovelace please"), ["ada-l"])
    assert.deepStrictEqual(resolved("@Ada, please"), ["ada"])
    assert.deepStrictEqual(resolved("hello\t@ADA"), ["ada"])
    assert.deepStrictEqual(resolved("@Ada Lovelacex"), ["ada"])
  })

  it("mentions everybody of that name", () => {
    assert.deepStrictEqual(resolved("@bob-1: go"), ["bob", "bob2"])
  })

  it("is silent about names that nobody has, and needs a boundary before the sign", () => {
    assert.deepStrictEqual(resolved("@nobody and mail@ada and (@ada)"), [])
    assert.deepStrictEqual(resolved("@"), [])
    assert.deepStrictEqual(resolved("@ada."), ["ada"])
    assert.deepStrictEqual(resolved("@adax and @ada-"), [])
    assert.deepStrictEqual(resolved("@ada/x"), ["ada"])
  })

  it("reads nostr links outside code", () => {
    const npub = nip19.npubEncode("3".repeat(64))
    assert.deepStrictEqual(Mentions.links(`see nostr:${npub} and nostr:npub1xyz`), ["3".repeat(64)])
    assert.deepStrictEqual(Mentions.links(`\`nostr:${npub}\` \`\`\`\nnostr:${npub}\n\`\`\``), [])
  })

  it("names a profile by display_name when the key is there, else by name", () => {
    assert.strictEqual(Mentions.profileName('{"display_name":"A","name":"B"}'), "A")
    assert.strictEqual(Mentions.profileName('{"name":"B"}'), "B")
    assert.isUndefined(Mentions.profileName('{"display_name":"","name":"B"}'))
    assert.isUndefined(Mentions.profileName('{"display_name":3}'))
    assert.isUndefined(Mentions.profileName("no json"))
  })
})

describe("bech32", () => {
  it.prop("encodes and decodes as nostr-tools does", { seed: Arbitrary.schema(Schema.String) }, ({ seed }) => {
    const pubkey = createHash("sha256").update(seed).digest("hex")
    const npub = nip19.npubEncode(pubkey)
    assert.strictEqual(npubEncode(pubkey), npub)
    assert.strictEqual(npubDecode(npub), pubkey)
  })

  it("refuses a wrong checksum, a wrong prefix and a wrong length", () => {
    const npub = nip19.npubEncode("3".repeat(64))
    assert.isUndefined(npubDecode(`${npub.slice(0, -1)}${npub.endsWith("q") ? "p" : "q"}`))
    assert.isUndefined(npubDecode(nip19.noteEncode("3".repeat(64))))
    assert.isUndefined(npubDecode("npub1"))
    assert.isUndefined(npubDecode(npub.slice(0, -2)))
  })
})

describe("CommandLine", () => {
  const specs: ReadonlyArray<CommandLine.OptionSpec> = [
    { name: "channel", isRequired: true },
    { name: "content" },
    { name: "mention", isRepeatable: true },
    { name: "broadcast", isFlag: true },
    { name: "role", values: ["member", "bot"] }
  ]
  const parse = (...args: ReadonlyArray<string>) => CommandLine.parse(specs, args)
  const complaint = (...args: ReadonlyArray<string>) =>
    Result.match(parse(...args), { onSuccess: () => "accepted", onFailure: String })

  it("reads values, flags and repeated options", () => {
    assert.deepStrictEqual(
      parse("--channel", "c", "--mention", "a", "--mention=b", "--broadcast", "--content", "-"),
      Result.succeed({
        channel: ["c"],
        mention: ["a", "b"],
        broadcast: ["true"],
        content: ["-"]
      })
    )
    assert.deepStrictEqual(
      parse("--channel=c", "--content=--x\ny"),
      Result.succeed({ channel: ["c"], content: ["--x\ny"] })
    )
    assert.deepStrictEqual(parse("--channel=c", "--content", ""), Result.succeed({ channel: ["c"], content: [""] }))
  })

  it("complains as clap does", () => {
    assert.include(complaint("--content", "x"), "required arguments were not provided:\n  --channel")
    assert.include(complaint("--channel", "c", "--content", "--x"), "a value is required for '--content'")
    assert.include(complaint("--channel", "c", "--content"), "a value is required")
    assert.include(complaint("--channel", "c", "extra"), "unexpected argument 'extra'")
    assert.include(complaint("--channel", "c", "--channel", "d"), "cannot be used multiple times")
    assert.include(complaint("--channel", "c", "--role", "king"), "possible values: member, bot")
  })

  it("takes global options only before the group", () => {
    const globals: ReadonlyArray<CommandLine.OptionSpec> = [{ name: "format", values: ["json", "compact"] }]
    assert.deepStrictEqual(
      CommandLine.globals(globals, ["--format", "compact", "users", "get"]),
      Result.succeed({
        options: { format: ["compact"] },
        rest: ["users", "get"]
      })
    )
    assert.isTrue(Result.isFailure(CommandLine.globals(globals, ["--format", "x", "users"])))
  })
})

describe("HelpText", () => {
  const send = {
    about: "Sends.",
    options: [
      { name: "reply-to", isRequired: true },
      { name: "kind", values: ["9"] }
    ]
  }
  const groups = { messages: { send } }
  const help = (...words: ReadonlyArray<string>) => HelpText.render(groups, [{ name: "relay" }], words).split("\n")

  it("goes from the program over the group to the command", () => {
    assert.deepStrictEqual(help("nothing").slice(0, 4), [
      "Usage: buzz [OPTIONS] <COMMAND>",
      "",
      "Commands:",
      "  messages  Commands about messages"
    ])
    assert.include(help("messages"), "  send  Sends.")
    assert.deepStrictEqual(help("messages", "send"), [
      "Sends.",
      "",
      "Usage: buzz messages send [OPTIONS] --reply-to <REPLY_TO>",
      "",
      "Options:",
      "      --reply-to <REPLY_TO>",
      "      --kind <KIND>          [possible values: 9]",
      "  -h, --help                 Print help"
    ])
  })
})

describe("CommandFailed", () => {
  it("has one line and one exit code per kind", () => {
    const codes = [
      "user_error",
      "not_found",
      "relay_error",
      "network_error",
      "auth_error",
      "key_error",
      "error"
    ] as const
    assert.deepStrictEqual(
      codes.map((kind) => CommandFailed.exitCode(CommandFailed.failed(kind, ""))),
      [1, 1, 2, 2, 3, 3, 4]
    )
    assert.strictEqual(
      CommandFailed.render(CommandFailed.failed("user_error", 'say "x"')),
      '{"error":"user_error","message":"say \\"x\\"","retryable":false}'
    )
  })

  it("tells refusals of the identity from other refusals, and what may work later", () => {
    assert.deepStrictEqual([refused(403).kind, refused(403).text], ["auth_error", "relay error 403: no"])
    assert.include(refused(403, true).text, "BUZZ_AUTH_TAG is set")
    assert.notInclude(refused(401, true).text, "BUZZ_AUTH_TAG")
    assert.deepStrictEqual([refused(400).kind, refused(400).isRetryable], ["relay_error", false])
    assert.isTrue(refused(429).isRetryable)
    const down = CommandFailed.ofBridge(new BridgeUnreachable({ detail: "refused" }), false)
    assert.deepStrictEqual([down.kind, down.text, down.isRetryable], ["network_error", "network error: refused", true])
  })
})

describe("Thread", () => {
  it("answers a message at the top with one tag, and a reply with its root first", () => {
    assert.deepStrictEqual(Thread.replyTags(at([])), [["e", "me", "", "reply"]])
    assert.deepStrictEqual(Thread.replyTags(at([["e", "top", "", "reply"]])), [
      ["e", "top", "", "root"],
      ["e", "me", "", "reply"]
    ])
    assert.deepStrictEqual(
      Thread.replyTags(
        at([
          ["e", "top", "", "root"],
          ["e", "mid", "", "reply"]
        ])
      ),
      [
        ["e", "top", "", "root"],
        ["e", "me", "", "reply"]
      ]
    )
    assert.isUndefined(Thread.rootOf(at([["e", "unmarked"]])))
  })
})

describe("Json", () => {
  it("sorts the keys of objects at every depth and keeps lists", () => {
    assert.strictEqual(Json.print({ b: [{ d: 1, c: null }], a: "x" }), '{"a":"x","b":[{"c":null,"d":1}]}')
    assert.strictEqual(Json.print(null), "null")
  })
})
