import * as TaskFixtureFile from "@buzz-orchestra/manifest/TaskFixtureFile"
import * as YamlDocument from "@buzz-orchestra/manifest/YamlDocument"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import type { TaskFixture } from "@buzz-orchestra/runtime/TaskFixture"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { UsageInvalid } from "../src/CommandError.ts"
import * as Fixtures from "../src/Fixtures.ts"

const read = (text: string) =>
  Result.getOrThrow(Result.flatMap(YamlDocument.fromText(text), TaskFixtureFile.fromDocument))

const FILE = `
user_name: Nora
directory:
  - { name: Scout, role: bot, identity_id: scout-2, about: Counts, is_channel_member: true }
  - { name: Priya, role: user }
scripted:
  - { label: report, actor: scout-2, content: north 17, reply_to_task: true, mention_orchestrator: false }
observed_channels: [fix-pr-1234]
`

const RUNNING = { _tag: "Running", url: "ws://localhost:3600", userUrl: undefined } as const
const crypto = Layer.merge(NodeCrypto.layerSecureRandom, SchnorrWasm.layer)

describe("a fixture file", () => {
  it("is the runtime's fixture, field by field", () => {
    const fixture: Required<TaskFixture> = {
      userName: "Nora",
      directory: [
        { name: "Scout", role: "bot", identityId: "scout-2", about: "Counts", isChannelMember: true },
        { name: "Priya", role: "user" }
      ],
      scripted: [
        { label: "report", actor: "scout-2", content: "north 17", replyToTask: true, mentionOrchestrator: false }
      ],
      observedChannels: ["fix-pr-1234"]
    }
    assert.deepStrictEqual(Fixtures.toTaskFixture(read(FILE)), fixture)
    assert.deepStrictEqual(Fixtures.toTaskFixture(read("{}")), {})
  })

  it.effect("with people needs an owner, who is a fresh one where the relay takes anybody", () =>
    Effect.gen(function* () {
      assert.isDefined(yield* Fixtures.owner(read("user_name: Nora"), { _tag: "Embedded" }))
      const refused = yield* Effect.flip(Fixtures.owner(read(FILE), RUNNING))
      assert.instanceOf(refused, UsageInvalid)
      assert.include(refused.instead, "--owner-key-env")
    }).pipe(Effect.provide(crypto))
  )

  it.effect("without people needs none", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* Fixtures.owner(read("observed_channels: [a]"), RUNNING))
      assert.isUndefined(yield* Fixtures.owner(undefined, { _tag: "Embedded" }))
    }).pipe(Effect.provide(crypto))
  )
})
