import { assert, describe, it } from "@effect/vitest"
import * as Manifest from "@buzz-orchestra/manifest/ArtifactReason"
import * as Credentials from "@buzz-orchestra/manifest/CredentialReason"
import { ManifestReason } from "@buzz-orchestra/manifest/ManifestError"
import * as Relay from "@buzz-orchestra/relay/RelayError"
import * as Errors from "@buzz-orchestra/runtime/RuntimeLaunchError"
import { Schema } from "effect"
import * as ForeignReason from "../src/internal/foreignReason.ts"

const isCredentialReason = Schema.is(Credentials.CredentialReason)
const to = { relay: "ws://relay", agentId: "lead-1", pubkey: "p" }

describe("foreignReason", () => {
  it.each([
    [
      new Credentials.AgentIdMalformed({ agentId: "x" }),
      new Errors.CredentialWithoutClass({ agentId: "x", known: ["lead"] })
    ],
    [
      new Credentials.AgentClassUnknown({ agentId: "x-1", classId: "x", known: ["lead"] }),
      new Errors.CredentialWithoutClass({ agentId: "x-1", known: ["lead"] })
    ],
    [
      new Credentials.AgentKindMismatch({ agentId: "lead-1", expected: "orchestrator", actual: "worker" }),
      new Errors.RoleMismatch({ agentId: "lead-1", expected: "orchestrator", actual: "worker" })
    ],
    [
      new Credentials.AgentRepeated({ agentId: "lead-1" }),
      new Errors.CredentialsIncomplete({ missing: [], unexpected: [], repeated: ["lead-1"] })
    ],
    [
      new Credentials.AgentsMissing({ agentIds: ["w-1"] }),
      new Errors.CredentialsIncomplete({ missing: ["w-1"], unexpected: [], repeated: [] })
    ],
    [
      new Credentials.AgentsUnexpected({ agentIds: ["w-9"] }),
      new Errors.CredentialsIncomplete({ missing: [], unexpected: ["w-9"], repeated: [] })
    ]
  ])("credentials: $_tag", (reason, expected) => {
    const actual = ForeignReason.ofCredentials(reason, ["lead"])
    assert.deepStrictEqual([actual?._tag, actual?.message], [expected._tag, expected.message])
  })

  it.prop("credentials: every reason about them, and no other, has one", [ManifestReason], ([reason]) => {
    assert.strictEqual(ForeignReason.ofCredentials(reason, []) !== undefined, isCredentialReason(reason))
  })

  it("prompts keep the file, the digests and what the system said", () => {
    const mismatch = new Manifest.ArtifactMismatch({ file: "/a/p.md", expected: "aa", actual: "bb" })
    assert.deepInclude(ForeignReason.ofPrompt(mismatch, "lead", "p.md"), {
      _tag: "PromptDigestMismatch",
      agent: "lead",
      path: "/a/p.md",
      expected: "aa",
      actual: "bb"
    })
    const unreadable = new Manifest.ArtifactUnreadable({ file: "/a/p.md", cause: new Error("ENOENT") })
    assert.deepInclude(ForeignReason.ofPrompt(unreadable, "lead", "p.md"), {
      _tag: "PromptUnreadable",
      path: "/a/p.md",
      detail: "ENOENT"
    })
  })

  it.each([
    [new Relay.MessageTooLong({ size: 70_000, limit: 65_536 }), "TaskTooLong"],
    [new Relay.MentionNotStored({ eventId: "e", missing: ["p"] }), "TaskMentionMissing"],
    [new Relay.RelayUrlInvalid({ url: "ftp://x", expected: "ws://" }), "RelayUrlUnusable"],
    [new Relay.RelayRefused({ url: "ws://relay", status: 403, detail: "restricted" }), "TaskNotAccepted"],
    [new Relay.RelayUnreachable({ url: "ws://relay", detail: "ECONNREFUSED" }), "TaskNotAccepted"]
  ])("posting: $_tag", (reason, tag) => {
    const actual = ForeignReason.ofPost(reason, to)
    assert.strictEqual(actual._tag, tag)
    if (actual._tag === "TaskNotAccepted") assert.include(actual.message, reason.message)
  })

  it("observing: what the relay's rules say ends it", () => {
    const refused = new Relay.RelayAuthRefused({ url: "ws://relay", pubkey: "p", detail: "restricted: not a member" })
    const actual = ForeignReason.ofObservation(refused, { relay: "ws://relay", channelId: "c" })
    assert.deepInclude(actual, { _tag: "ObservationRefused", relay: "ws://relay", channelId: "c" })
    assert.include(actual.message, "restricted: not a member")
  })
})
