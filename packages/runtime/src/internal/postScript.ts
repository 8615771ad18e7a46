/**
 * Sends a task's scripted messages one after the other, as those who say them: how they are batched is left to the product.
 */
import { type Actor, BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import { identityIdOf } from "@buzz-orchestra/relay/DirectoryIdentity"
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { Effect } from "effect"
import { type ScriptedEvent, type ScriptedMessage, type TaskFixture, TRIAL_USER } from "../TaskFixture.ts"

export interface ScriptOptions {
  readonly fixture: TaskFixture | undefined
  readonly handle: TrialHandle
  readonly orchestrator: { readonly agentId: string; readonly pubkey: string }
  /** The user. */
  readonly actor: Actor
  readonly task: NostrEvent
}

/** Fails with the first message that the relay does not take. */
export const postScript = Effect.fnUntraced(function* (options: ScriptOptions) {
  const client = yield* BuzzClient
  const { actor: user, fixture, handle, orchestrator, task } = options
  return yield* Effect.forEach(
    fixture?.scripted ?? [],
    Effect.fnUntraced(function* (message) {
      const { actor, label, mentionOrchestrator = true, replyToTask = false } = message
      const identity = actor === TRIAL_USER ? user.identity : identityOf(handle, actor)
      // The directory was checked for it before anything was provisioned.
      if (identity === undefined) return yield* Effect.die(new Error(`no identity for the scripted actor ${actor}`))
      const event = yield* client.send(
        { ...user, identity },
        {
          channelId: handle.channelId,
          content: contentOf(message, options),
          mentions: mentionOrchestrator ? [orchestrator.pubkey] : [],
          ...(replyToTask ? { replyTo: task.id } : {})
        }
      )
      const sent: ScriptedEvent = { label, eventId: event.id, actor, replyToEventId: replyToTask ? task.id : undefined }
      return sent
    })
  )
})

const identityOf = ({ directory = [] }: TrialHandle, actor: string) =>
  directory.find(({ entry }) => identityIdOf(entry) === actor)?.identity

const contentOf = ({ content }: ScriptedMessage, { handle, orchestrator }: ScriptOptions): string =>
  content.replaceAll(/\{(orchestrator|user)\}/g, (_, who) => (who === "user" ? handle.user.name : orchestrator.agentId))
