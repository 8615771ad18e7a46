/**
 * Sends a task's scripted messages one after the other, as those who say them: how they are batched is left to the product.
 */
import type { Actor } from "@buzz-orchestra/relay/BuzzClient"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { Effect } from "effect"
import type { ScriptedEvent, ScriptedMessage, TaskFixture } from "../TaskFixture.ts"

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
      const event = yield* client.send(
        { ...user, identity: actor === "user" ? user.identity : actor.identity },
        {
          channelId: handle.channelId,
          content: contentOf(message, options),
          mentions: mentionOrchestrator ? [orchestrator.pubkey] : [],
          ...(replyToTask ? { replyTo: task.id } : {})
        }
      )
      const sent: ScriptedEvent = {
        label,
        eventId: event.id,
        actor: actor === "user" ? "user" : actor.identityId,
        replyToEventId: replyToTask ? task.id : undefined
      }
      return sent
    })
  )
})

const contentOf = ({ content }: ScriptedMessage, { handle, orchestrator }: ScriptOptions): string =>
  content.replaceAll(/\{(orchestrator|user)\}/g, (_, who) => (who === "user" ? handle.user.name : orchestrator.agentId))
