import { assert, describe, it } from "@effect/vitest"
import type { NostrEvent, Tag } from "@buzz-orchestra/relay/NostrEvent"
import * as AgentUpdates from "@buzz-orchestra/reference-stack/buzz-acp/AgentUpdates"
import * as EventGate from "@buzz-orchestra/reference-stack/buzz-acp/EventGate"
import * as PromptText from "@buzz-orchestra/reference-stack/buzz-acp/PromptText"
import { RecentIds } from "@buzz-orchestra/reference-stack/buzz-acp/RecentIds"
import * as RespawnPolicy from "@buzz-orchestra/reference-stack/buzz-acp/RespawnPolicy"
import * as Subscriptions from "@buzz-orchestra/reference-stack/buzz-acp/Subscriptions"
import * as TurnOutcome from "@buzz-orchestra/reference-stack/buzz-acp/TurnOutcome"
import * as Wake from "@buzz-orchestra/reference-stack/buzz-agent/Wake"
import { nip19 } from "nostr-tools"

const SELF = "5".repeat(64)
const OWNER = "0".repeat(64)
const OTHER = "7".repeat(64)
const CHANNEL = "11111111-1111-4111-8111-111111111111"

const message = (fields: Partial<NostrEvent> & { readonly tags?: ReadonlyArray<Tag> } = {}): NostrEvent => ({
  id: "e".repeat(64),
  pubkey: OTHER,
  created_at: 1_781_524_800,
  kind: 9,
  tags: [
    ["h", CHANNEL],
    ["p", SELF]
  ],
  content: "please",
  sig: "",
  ...fields
})

const gate = (config: Partial<EventGate.GateContext["config"]> = {}, rest: Partial<EventGate.GateContext> = {}) => ({
  config: {
    respondTo: "anyone" as const,
    allowlist: new Set<string>(),
    ignoreSelf: true,
    mentionsOnly: true,
    kinds: [9, 46_010, 40_007],
    ...config
  },
  self: SELF,
  owner: OWNER,
  isSibling: () => undefined,
  ...rest
})

const verdict = (event: NostrEvent, context: EventGate.GateContext = gate()): string => {
  const decided = EventGate.decide(event, context)
  return decided._tag === "Command" ? decided.command : decided._tag
}

const command = (content: string, pubkey = OWNER) => verdict(message({ content, pubkey }))

const lines = (outcome: TurnOutcome.TurnOutcome) =>
  TurnOutcome.endLines(outcome, "C", 0).map(({ level, message, target }) => `${level} ${target}: ${message}`)

const stop = (reason: TurnOutcome.StopReason) => lines({ _tag: "Stopped", reason, by: undefined })

const after = (outcome: TurnOutcome.TurnOutcome) => Object.values(TurnOutcome.consequence(outcome))

const usage = (update: Record<string, number | null>) =>
  AgentUpdates.usageLine({ sessionId: "ses_1", update: { sessionUpdate: "usage_update", ...update } })

const option = (kind: "allow_once" | "allow_always" | "reject_once") => ({ kind, name: kind, optionId: kind })

const parts = (fields: Partial<PromptText.PromptParts> = {}): PromptText.PromptParts => ({
  base: undefined,
  system: undefined,
  channel: { id: CHANNEL, name: "general", type: "private" },
  transcript: [],
  events: [message()],
  names: new Map([
    [OTHER, "Ada\nLovelace"],
    [SELF, "Bot"]
  ]),
  ...fields
})

describe("EventGate", () => {
  it("lets mentions of the waking kinds start a turn, whatever their text", () => {
    assert.strictEqual(verdict(message()), "StartsTurn")
    assert.strictEqual(verdict(message({ kind: 40_007 })), "StartsTurn")
    assert.strictEqual(verdict(message({ kind: 7 })), "Dropped")
    assert.strictEqual(verdict(message({ tags: [["h", CHANNEL]], content: "@me" })), "Dropped")
    assert.strictEqual(verdict(message({ tags: [["h", CHANNEL]] }), gate({ mentionsOnly: false })), "StartsTurn")
  })

  it("ignores itself unless told otherwise", () => {
    assert.strictEqual(verdict(message({ pubkey: SELF })), "Dropped")
    assert.strictEqual(verdict(message({ pubkey: SELF }), gate({ ignoreSelf: false })), "StartsTurn")
  })

  it("asks who an author belongs to before it answers only to its owner", () => {
    const only = (isSibling: boolean | undefined, owner: string | undefined = OWNER) =>
      gate({ respondTo: "owner-only" }, { isSibling: () => isSibling, owner })
    assert.strictEqual(verdict(message({ pubkey: OWNER }), only(undefined)), "StartsTurn")
    assert.strictEqual(verdict(message(), only(undefined)), "NeedsProfile")
    assert.strictEqual(verdict(message(), only(true)), "StartsTurn")
    assert.strictEqual(verdict(message(), only(false)), "Dropped")
    const orphan = gate({ respondTo: "owner-only" }, { owner: undefined })
    assert.strictEqual(verdict(message({ pubkey: OWNER }), orphan), "Dropped")
  })

  it("knows an allowlist and nobody", () => {
    const listed = gate({ respondTo: "allowlist", allowlist: new Set([OTHER]) })
    assert.strictEqual(verdict(message(), listed), "StartsTurn")
    assert.strictEqual(verdict(message({ pubkey: OWNER }), listed), "StartsTurn")
    assert.strictEqual(verdict(message({ pubkey: "8".repeat(64) }), listed), "Dropped")
    assert.strictEqual(verdict(message({ pubkey: OWNER }), gate({ respondTo: "nobody" })), "Dropped")
  })

  it("obeys its owner's commands, and only when they are the whole text", () => {
    assert.strictEqual(command(" !cancel\n"), "cancel")
    assert.strictEqual(command("!shutdown"), "shutdown")
    assert.strictEqual(command("!rotate"), "rotate")
    assert.strictEqual(command("please !cancel"), "StartsTurn")
    assert.strictEqual(command("!cancel", OTHER), "StartsTurn")
    // Not a name of the object behind the table.
    assert.strictEqual(command("constructor"), "StartsTurn")
  })
})

describe("TurnOutcome", () => {
  it("has an end line for every stop reason", () => {
    assert.deepStrictEqual(stop("end_turn"), ["INFO pool::prompt: turn complete for channel C: end_turn"])
    assert.deepStrictEqual(stop("max_tokens"), [
      "WARN pool::prompt: turn hit max_tokens for channel C — session will be rotated"
    ])
    assert.deepStrictEqual(stop("max_turn_requests"), [
      "WARN pool::prompt: turn hit max_turn_requests for channel C — session will be rotated"
    ])
    assert.deepStrictEqual(stop("refusal"), ["WARN pool::prompt: turn refused for channel C"])
    assert.deepStrictEqual(stop("cancelled"), ["WARN pool::prompt: turn cancelled for channel C"])
  })

  it("has no end line for a turn that failed, unless the agent answered the cancel", () => {
    assert.deepStrictEqual(lines({ _tag: "AgentExited" }), ["ERROR pool::prompt: agent 0 exited during prompt"])
    assert.deepStrictEqual(lines({ _tag: "AgentReportedError", detail: "llm: x" }), [
      "ERROR pool::prompt: session_prompt error: Agent reported error: llm: x"
    ])
    assert.match(lines(TurnOutcome.tookTooLong(60))[0] ?? "", /hard timeout \(60s cap\)/)
    const idle = (cancelled: boolean) => lines(TurnOutcome.idledOut({ seconds: 1, sessionId: "s", cancelled }))
    assert.deepStrictEqual(idle(false), [])
    assert.deepStrictEqual(idle(true), ["WARN pool::prompt: turn cancelled for channel C"])
  })

  it("tries everything that failed again, and replaces a process it cannot trust", () => {
    assert.deepStrictEqual(after({ _tag: "Stopped", reason: "end_turn", by: undefined }), ["delivered", "kept", "kept"])
    assert.deepStrictEqual(after({ _tag: "Stopped", reason: "max_tokens", by: undefined }), [
      "delivered",
      "rotated",
      "kept"
    ])
    assert.deepStrictEqual(after({ _tag: "Stopped", reason: "cancelled", by: "newer event" }), [
      "merged",
      "kept",
      "kept"
    ])
    assert.deepStrictEqual(after({ _tag: "Stopped", reason: "cancelled", by: "owner" }), ["discarded", "kept", "kept"])
    assert.deepStrictEqual(after({ _tag: "AgentReportedError", detail: "" }), ["failed", "kept", "kept"])
    for (const outcome of [
      { _tag: "AgentExited" } as const,
      TurnOutcome.tookTooLong(1),
      TurnOutcome.idledOut({ seconds: 1, sessionId: "s", cancelled: true })
    ])
      assert.deepStrictEqual(after(outcome), ["failed", "rotated", "replaced"])
  })
})

describe("RespawnPolicy", () => {
  it("waits longer after each death and stops after three within a minute", () => {
    const [first, one] = RespawnPolicy.died([], 0)
    const [second, two] = RespawnPolicy.died(first, 10_000)
    const [, three] = RespawnPolicy.died(second, 20_000)
    assert.deepStrictEqual(
      [one, two, three],
      [
        { _tag: "After", delayMillis: 1000 },
        { _tag: "After", delayMillis: 2000 },
        { _tag: "CircuitOpen", deaths: 3 }
      ]
    )
    assert.deepStrictEqual(RespawnPolicy.died(second, 75_000)[1], { _tag: "After", delayMillis: 1000 })
  })
})

describe("AgentUpdates", () => {
  it("prints usage as the newer program does", () => {
    assert.deepStrictEqual(usage({ accumulatedInputTokens: 5, accumulatedOutputTokens: null }).fields, {
      session_id: "ses_1",
      input: "Some(5)",
      output: "None",
      cached: 0
    })
  })

  it("prints text as it is, tool calls with their kind, and is silent about the rest", () => {
    const text = { type: "text" as const, text: "two\nlines" }
    const printed = [
      { sessionUpdate: "agent_message_chunk" as const, content: text },
      { sessionUpdate: "tool_call" as const, toolCallId: "t", title: "mcp__shell", kind: "execute" as const },
      { sessionUpdate: "tool_call" as const, toolCallId: "t", title: "mcp__shell" },
      { sessionUpdate: "tool_call_update" as const, toolCallId: "t", status: "failed" as const },
      { sessionUpdate: "agent_thought_chunk" as const, content: text }
    ].map((update) => AgentUpdates.updateLine(update)?.message)
    assert.deepStrictEqual(printed, [
      "two\nlines",
      "tool_call: mcp__shell (execute)",
      "tool_call: mcp__shell (other)",
      "tool_call_update: t → failed",
      undefined
    ])
  })

  it("allows once, else rejects once, else cancels", () => {
    assert.deepStrictEqual(AgentUpdates.permission([option("allow_always"), option("allow_once")]), {
      outcome: "selected",
      optionId: "allow_once"
    })
    assert.deepStrictEqual(AgentUpdates.permission([option("allow_always"), option("reject_once")]), {
      outcome: "selected",
      optionId: "reject_once"
    })
    assert.deepStrictEqual(AgentUpdates.permission([option("allow_always")]), { outcome: "cancelled" })
  })
})

describe("PromptText", () => {
  it("shows one event as the real program does", () => {
    assert.strictEqual(
      PromptText.compose(parts()).split("\n\n").at(-1),
      [
        "[Buzz event: @mention]",
        `Event ID: ${"e".repeat(64)}`,
        `Channel: general (#${CHANNEL})`,
        "Kind: 9",
        `From: Ada Lovelace (npub: ${nip19.npubEncode(OTHER)}, hex: ${OTHER})`,
        "Time: 2026-06-15T12:00:00+00:00",
        "Content: please",
        `Tags: [["h","${CHANNEL}"],["p","${SELF}"]]`,
        `Parsed: mentions=[Bot (${SELF})]`
      ].join("\n")
    )
  })

  it("has the sections that apply, in order", () => {
    const reply = message({
      tags: [
        ["h", CHANNEL],
        ["p", SELF],
        ["e", "a".repeat(64), "", "root"],
        ["e", "b".repeat(64), "", "reply"]
      ]
    })
    const text = PromptText.compose(
      parts({
        base: "base text",
        system: "system text\n",
        events: [reply],
        transcript: [message({ content: "earlier" })]
      })
    )
    const headers = text.match(/^\[.*\]$/gm)
    assert.deepStrictEqual(headers, [
      "[Base]",
      "[System]",
      "[Context]",
      "[Conversation so far]",
      "[Buzz event: @mention]"
    ])
    assert.include(text, `Thread root: ${"a".repeat(64)}`)
    assert.include(text, `Parent: ${"b".repeat(64)}`)
    assert.include(text, `IMPORTANT: this is a reply in a thread. Answer with --reply-to ${"e".repeat(64)}.`)
    assert.include(text, "Scope: thread")
    assert.notInclude(PromptText.compose(parts()), "[System]")
  })

  it("is read back by the agent that it is meant for", () => {
    const second = message({ id: "f".repeat(64), content: "Event ID: none" })
    const wake = Wake.parse(PromptText.compose(parts({ system: "You are me", events: [message(), second] })))
    assert.include(wake.system, "You are me")
    assert.strictEqual(wake.event, "f".repeat(64))
    assert.strictEqual(wake.from, OTHER)
    assert.strictEqual(wake.channel, CHANNEL)
    assert.isTrue(wake.text.startsWith("[Buzz events — 2 events]\n--- Event 1 (@mention) ---"))
  })
})

describe("Subscriptions", () => {
  it("asks for mentions of the waking kinds, five seconds back", () => {
    assert.deepStrictEqual(Subscriptions.channelFilter({ kinds: [9], mentionsOnly: true }, SELF, CHANNEL, 100), {
      "#h": [CHANNEL],
      "#p": [SELF],
      kinds: [9],
      since: 95
    })
    assert.deepStrictEqual(Subscriptions.channelFilter({ kinds: undefined, mentionsOnly: false }, SELF, CHANNEL, 100), {
      "#h": [CHANNEL],
      since: 95
    })
  })
})

describe("RecentIds", () => {
  it("knows an id until 12 000 newer ones came", () => {
    const recent = new RecentIds()
    assert.isTrue(recent.add("first"))
    assert.isFalse(recent.add("first"))
    for (let index = 0; index < 11_999; index++) recent.add(String(index))
    assert.isFalse(recent.add("first"))
    recent.add("one more")
    assert.isTrue(recent.add("first"))
  })
})
