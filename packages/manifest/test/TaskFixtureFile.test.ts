import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { ManifestReason } from "../src/ManifestError.ts"
import * as TaskFixtureFile from "../src/TaskFixtureFile.ts"
import * as YamlDocument from "../src/YamlDocument.ts"
import { refusals } from "./support.ts"

type Read = Result.Result<TaskFixtureFile.TaskFixtureFile, ReadonlyArray<ManifestReason>>

const read = (text: string): Read =>
  Result.flatMap(YamlDocument.fromText(text), (document): Read => TaskFixtureFile.fromDocument(document))

const messages = (read: Read) => (Result.isFailure(read) ? read.failure.map(({ message }) => message) : [])

const FIXTURE = `
user_name: Nora Isabel Grant
directory:
  - { name: Ledger Scout, role: bot, is_channel_member: true }
  - { name: Ledger Scout, role: user, identity_id: other-scout, about: Somebody else }
scripted:
  - { label: report, actor: Ledger Scout, content: "north 17, {orchestrator}", reply_to_task: true }
  - { label: hurry, actor: user, content: please hurry, mention_orchestrator: false }
observed_channels: [fix-pr-1234]
`

describe("a fixture file", () => {
  it("says who else is there, what they say, and which channels count", () => {
    assert.deepStrictEqual(Result.getOrThrow(read(FIXTURE)), {
      user_name: "Nora Isabel Grant",
      directory: [
        { name: "Ledger Scout", role: "bot", is_channel_member: true },
        { name: "Ledger Scout", role: "user", identity_id: "other-scout", about: "Somebody else" }
      ],
      scripted: [
        { label: "report", actor: "Ledger Scout", content: "north 17, {orchestrator}", reply_to_task: true },
        { label: "hurry", actor: "user", content: "please hurry", mention_orchestrator: false }
      ],
      observed_channels: ["fix-pr-1234"]
    })
    assert.deepStrictEqual(Result.getOrThrow(read("{}")), {})
  })

  it.each([
    ["user_name: 3", "FieldInvalid user_name 1:12"],
    ["user: Nora", "FieldUnknown user 1:1"],
    ["directory: [{ name: A }]", "FieldMissing directory[0].role 1:13"],
    ["directory: [{ name: A, role: boss }]", "FieldInvalid directory[0].role 1:30"],
    ["directory:\n- { name: A, role: bot, key: x }", "FieldUnknown directory[0].key 2:25"],
    ["scripted: [{ label: a, actor: user, content: '' }]", "FieldInvalid scripted[0].content 1:46"],
    ["observed_channels: fix", "FieldInvalid observed_channels 1:20"]
  ])("is strict, and names the line: %j", (text, expected) => {
    assert.deepStrictEqual(refusals(read(text)), [expected])
  })

  it("knows nothing of `metadata`", () => {
    assert.deepStrictEqual(messages(read("colour: red")), ["unknown field: remove it"])
  })

  it("has each identity and each label once", () => {
    const text = [
      "directory: [{ name: A, role: bot }, { name: A, role: user }]",
      "scripted: [{ label: x, actor: user, content: a }, { label: x, actor: user, content: b }]"
    ].join("\n")
    assert.deepStrictEqual(refusals(read(text)), [
      "FieldInvalid directory[1].name 1:45",
      "FieldInvalid scripted[1].label 2:60"
    ])
  })

  it("lets only the user and members of the channel speak", () => {
    const text = [
      "directory: [{ name: A, role: bot, is_channel_member: true }, { name: B, role: bot }]",
      "scripted:",
      "- { label: x, actor: B, content: a }",
      "- { label: y, actor: C, content: a }"
    ].join("\n")
    assert.deepStrictEqual(refusals(read(text)), [
      "FieldInvalid scripted[0].actor 3:22",
      "FieldInvalid scripted[1].actor 4:22"
    ])
    assert.deepStrictEqual(messages(read(text)), [
      'expected one of `user`, `A`, found the text "B": that entry of the directory is no member of the channel; give it `is_channel_member: true`',
      'expected one of `user`, `A`, found the text "C"'
    ])
  })
})
