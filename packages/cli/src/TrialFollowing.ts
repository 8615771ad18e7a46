/**
 * The states of a trial's agents from the bundle that it writes, as it writes it.
 */
import * as EventLine from "@buzz-orchestra/runtime/EventLine"
import type { TrialEvent } from "@buzz-orchestra/runtime/TrialEvent"
import { Effect, FileSystem, Option, Queue, Result, Stream } from "effect"

/** A state that changed, or the end. */
export type FollowedEvent = Extract<TrialEvent, { readonly _tag: "AgentChanged" | "TrialEnded" }>

/** How often a file that grows is looked at. */
const PAUSE = "500 millis"

/**
 * The newest state of each agent, then each change, until the trial has ended. A file that is not there yet is waited for.
 * What is no line of an event is passed over: its writer may have been killed in the middle of it.
 */
export const agentChanges = (file: string): Stream.Stream<FollowedEvent, never, FileSystem.FileSystem> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const queue = yield* Queue.unbounded<FollowedEvent>()
      yield* Effect.forkScoped(follow(file, queue))
      return Stream.takeUntil(Stream.fromQueue(queue), ({ _tag }) => _tag === "TrialEnded")
    })
  )

const follow = Effect.fnUntraced(function* (file: string, queue: Queue.Queue<FollowedEvent>) {
  const fs = yield* FileSystem.FileSystem
  const decoder = new TextDecoder()
  let offset = 0
  let rest = ""
  for (let isFirst = true; ;) {
    const size = Option.map(yield* Effect.option(fs.stat(file)), (info) => Number(info.size))
    if (Option.isSome(size) && size.value > offset) {
      const chunks = yield* Effect.option(
        Stream.runCollect(fs.stream(file, { offset, bytesToRead: size.value - offset }))
      )
      for (const chunk of Option.getOrElse(chunks, () => [])) {
        offset += chunk.length
        rest += decoder.decode(chunk, { stream: true })
      }
      const lines = rest.split("\n")
      rest = lines.pop() ?? ""
      const events = lines.flatMap(followed)
      yield* Queue.offerAll(queue, isFirst ? newest(events) : events)
      isFirst = false
    }
    yield* Effect.sleep(PAUSE)
  }
})

const followed = (line: string): ReadonlyArray<FollowedEvent> => {
  const event = Result.getOrUndefined(Result.try(() => EventLine.parse(line).event))
  return event?._tag === "AgentChanged" || event?._tag === "TrialEnded" ? [event] : []
}

/** The last state of each agent, in the order of their changes. */
const newest = (events: ReadonlyArray<FollowedEvent>): ReadonlyArray<FollowedEvent> =>
  events.filter((event, index) =>
    events
      .slice(index + 1)
      .every((later) => later._tag !== event._tag || !("agentId" in later && later.agentId === agentOf(event)))
  )

const agentOf = (event: FollowedEvent): string | undefined => ("agentId" in event ? event.agentId : undefined)
