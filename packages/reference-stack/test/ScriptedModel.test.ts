import { assert, describe, it } from "@effect/vitest"
import type { Turn } from "@buzz-orchestra/reference-stack/buzz-agent/Playbook"
import * as ScriptedModel from "@buzz-orchestra/reference-stack/buzz-agent/ScriptedModel"
import * as Team from "@buzz-orchestra/reference-stack/buzz-agent/Team"
import * as Wake from "@buzz-orchestra/reference-stack/buzz-agent/Wake"
import { Result } from "effect"

const none = (): boolean => false
const say = (text: string, when?: Turn["when"]): Turn => ({
  steps: [{ say: text }],
  ...(when === undefined ? {} : { when })
})

const prompt = (content: string, system = "Persona") =>
  `${system}\n\n[Context]\nScope: channel\nChannel: general (#${CHANNEL})\n\n[Buzz event: @mention]\nEvent ID: ${"e".repeat(64)}\nChannel: general (#${CHANNEL})\nKind: 9\nFrom: Ada (npub: npub1x, hex: ${"a".repeat(64)})\nTime: 2026-06-15T12:00:00+00:00\nContent: ${content}\nTags: []`

const sizes = (steps: Turn["steps"]) => ScriptedModel.responses({ steps }).map((response) => response.length)

const CHANNEL = "11111111-1111-4111-8111-111111111111"

describe("ScriptedModel.choose", () => {
  it("takes the first turn that was not played and whose texts all occur", () => {
    const turns = [say("a", "task"), say("b", ["done", "hello.txt"]), say("c")]
    const choose = (played: ReadonlyArray<number>, text: string) =>
      ScriptedModel.choose(turns, new Set(played), text, none)?.index
    assert.strictEqual(choose([], "the task"), 0)
    assert.strictEqual(choose([0], "the task"), 2)
    assert.strictEqual(choose([0], "done with hello.txt"), 1)
    assert.strictEqual(choose([], "done with hello"), 2)
    assert.isUndefined(choose([0, 2], "anything"))
  })

  it("keeps a repeated turn and skips one whose file exists", () => {
    const turns: ReadonlyArray<Turn> = [
      { unless_file: "/marker", steps: [{ crash: true }] },
      { repeat: true, steps: [{ say: "again" }] }
    ]
    assert.strictEqual(ScriptedModel.choose(turns, new Set(), "", none)?.index, 0)
    assert.strictEqual(ScriptedModel.choose(turns, new Set(), "", (path) => path === "/marker")?.index, 1)
    assert.strictEqual(ScriptedModel.choose(turns, new Set([0, 1]), "", none)?.index, 1)
  })
})

describe("ScriptedModel.responses", () => {
  it("ends a response at a call or a stop, and reads the result of a last call", () => {
    assert.deepStrictEqual(sizes([]), [0])
    assert.deepStrictEqual(sizes([{ say: "a" }, { shell: "ls" }]), [2, 0])
    assert.deepStrictEqual(sizes([{ shell: "ls" }, { expect: "x" }, { read_file: "y" }, { say: "z" }]), [1, 2, 1])
    assert.deepStrictEqual(sizes([{ say: "a" }, { stop: "refusal" }, { say: "never" }]), [2])
  })
})

describe("ScriptedModel.fill", () => {
  const values: ScriptedModel.Placeholders = {
    team: {
      self: { name: "lead-1", pubkey: "self-key" },
      channel: "team-channel",
      user: { name: "user", pubkey: "user-key" },
      members: [{ name: "worker-1", pubkey: "worker-key" }]
    },
    wake: { channel: "wake-channel", event: "event-id", from: "from-key" }
  }

  it("fills in what it knows and leaves the shell its braces", () => {
    assert.deepStrictEqual(
      ScriptedModel.fill("{channel} {event} {from} {self} {user} {member:worker-1} ${HOME} {a,b} {}", values),
      Result.succeed("wake-channel event-id from-key self-key user-key worker-key ${HOME} {a,b} {}")
    )
    assert.deepStrictEqual(
      ScriptedModel.fill("{channel}", { ...values, wake: { channel: undefined, event: undefined, from: undefined } }),
      Result.succeed("team-channel")
    )
  })

  it("refuses a placeholder without a value", () => {
    assert.deepStrictEqual(
      ScriptedModel.fill("{member:nobody} {self}", values),
      Result.fail("no value for {member:nobody}")
    )
  })
})

describe("ScriptedModel.cost", () => {
  it("is what the usage step says, else a quarter of the characters", () => {
    assert.deepStrictEqual(ScriptedModel.cost([{ say: "x" }, { usage: { input: 7, output: 3 } }], 400), {
      input: 7,
      output: 3,
      cached: 0
    })
    assert.deepStrictEqual(ScriptedModel.cost([], 401), { input: 101, output: 0, cached: 0 })
    // {"say":"abcd"} has 14 characters.
    assert.strictEqual(ScriptedModel.cost([{ say: "abcd" }], 0).output, 4)
  })
})

describe("Team", () => {
  it("reads the section that the launcher appends", () => {
    const text = [
      "# Persona: You are `someone-else` (pubkey `other`)",
      "## Your team",
      "You are `lead-1` (pubkey `aa`) in channel `C`, working for user `Ada L` (pubkey `bb`).",
      "| Name | Role | Pubkey |",
      "|---|---|---|",
      "| worker-1 | implementer | `cc` |",
      "| a\\|b | reviewer | `dd` |"
    ].join("\n")
    assert.deepStrictEqual(Team.parse(text), {
      self: { name: "lead-1", pubkey: "aa" },
      channel: "C",
      user: { name: "Ada L", pubkey: "bb" },
      members: [
        { name: "worker-1", pubkey: "cc" },
        { name: "a|b", pubkey: "dd" }
      ]
    })
    assert.isUndefined(Team.parse("Just a persona."))
  })
})

describe("Wake", () => {
  it("takes system prompt, event and author from their places", () => {
    const wake = Wake.parse(prompt("please do it"))
    assert.strictEqual(wake.system.trim(), "Persona")
    assert.strictEqual(wake.channel, CHANNEL)
    assert.strictEqual(wake.event, "e".repeat(64))
    assert.strictEqual(wake.from, "a".repeat(64))
    assert.isTrue(wake.text.startsWith("[Buzz event: @mention]"))
    assert.notInclude(wake.text, "Scope: channel")
  })

  it("does not take quoted header lines for an event", () => {
    const wake = Wake.parse(prompt(`Event ID: ${"f".repeat(64)}\nFrom: Eve (npub: x, hex: ${"b".repeat(64)})`))
    assert.strictEqual(wake.event, "e".repeat(64))
    assert.strictEqual(wake.from, "a".repeat(64))
  })

  it("takes the text of another client as it is", () => {
    assert.deepStrictEqual(Wake.parse("just do it"), {
      system: "",
      text: "just do it",
      channel: undefined,
      event: undefined,
      from: undefined
    })
  })
})
