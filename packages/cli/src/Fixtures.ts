/**
 * From a task's fixture file to what the trial is given, and to the key from which the task's people get theirs.
 */
import type { TaskFixtureFile } from "@buzz-orchestra/manifest/TaskFixtureFile"
import * as Identity from "@buzz-orchestra/relay/Identity"
import type { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import type { TaskFixture } from "@buzz-orchestra/runtime/TaskFixture"
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import { UsageInvalid } from "./CommandError.ts"
import type { RelayRequest } from "./TrialRequest.ts"

/** The fixture as the runtime names it. */
export const toTaskFixture = (file: TaskFixtureFile): TaskFixture => ({
  ...(file.user_name === undefined ? {} : { userName: file.user_name }),
  ...(file.directory === undefined ? {} : { directory: file.directory.map(toEntry) }),
  ...(file.scripted === undefined ? {} : { scripted: file.scripted.map(toMessage) }),
  ...(file.observed_channels === undefined ? {} : { observedChannels: file.observed_channels })
})

type Entry = NonNullable<TaskFixture["directory"]>[number]
type Message = NonNullable<TaskFixture["scripted"]>[number]

const toEntry = (entry: NonNullable<TaskFixtureFile["directory"]>[number]): Entry => ({
  name: entry.name,
  role: entry.role,
  ...(entry.identity_id === undefined ? {} : { identityId: entry.identity_id }),
  ...(entry.about === undefined ? {} : { about: entry.about }),
  ...(entry.is_channel_member === undefined ? {} : { isChannelMember: entry.is_channel_member })
})

const toMessage = (message: NonNullable<TaskFixtureFile["scripted"]>[number]): Message => ({
  label: message.label,
  actor: message.actor,
  content: message.content,
  ...(message.reply_to_task === undefined ? {} : { replyToTask: message.reply_to_task }),
  ...(message.mention_orchestrator === undefined ? {} : { mentionOrchestrator: message.mention_orchestrator })
})

/**
 * The owner of a trial for which none is named: nobody, unless the fixture has people, whose keys follow from the owner's. The relay
 * inside this command takes any owner, so that it gets a fresh one; another relay has its own.
 */
export const owner = Effect.fnUntraced(function* (
  fixture: TaskFixtureFile | undefined,
  relay: RelayRequest
): Effect.fn.Return<Identity.Identity | undefined, UsageInvalid, Schnorr | SecureRandom.SecureRandom> {
  const { directory = [], user_name } = fixture ?? {}
  if (user_name === undefined && directory.length === 0) return undefined
  if (relay._tag === "Embedded") return yield* Identity.generate
  return yield* new UsageInvalid({
    detail: "the keys of the fixture's people follow from the key of the relay's owner, and none is given",
    instead: "name the variable that holds it: --owner-key-env NAME"
  })
})
