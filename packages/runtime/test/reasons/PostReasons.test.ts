/** What becomes of a trial whose task does not get into the channel, or not to the orchestrator. */
import { MentionNotStored, RelayRefused } from "@buzz-orchestra/relay/RelayError"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { LEAD, readSummary, startTrial, trialLayer } from "../support/trial.ts"

describe("a task", () => {
  it.effect("that the relay does not take fails the trial with the relay's words, and wakes nobody", () =>
    Effect.gen(function* () {
      const refused = new RelayRefused({ url: "ws://r", status: 400, detail: "restricted: not a channel member" })
      yield* TestRelay.use((relay) => relay.failNext("send", refused))
      const { fiber, options } = yield* startTrial()
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error.reason._tag, "TaskNotAccepted")
      assert.match(error.message, /^post: .*not a channel member/)
      const { agents, error: written } = yield* readSummary(options.directory)
      assert.deepInclude(written, { phase: "post", reason: error.reason._tag })
      assert.deepStrictEqual(
        agents.map(({ turns_started }) => turns_started),
        [0, 0]
      )
    }).pipe(Effect.provide(trialLayer()))
  )

  it.effect("that the relay stores without its mention fails the trial, and says who would not wake", () =>
    Effect.gen(function* () {
      const lost = new MentionNotStored({ eventId: "e".repeat(64), missing: [LEAD.pubkey] })
      yield* TestRelay.use((relay) => relay.failNext("send", lost))
      const { fiber } = yield* startTrial()
      const { reason } = yield* Effect.flip(Fiber.join(fiber))
      assert.deepInclude(reason, { _tag: "TaskMentionMissing", agentId: "lead-1", pubkey: LEAD.pubkey })
      const programs = yield* TestStack.use(({ programs }) => programs)
      assert.isTrue([...programs.values()].every(({ alive }) => !alive))
    }).pipe(Effect.provide(trialLayer()))
  )
})
