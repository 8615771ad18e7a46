/**
 * Follows a channel and prints what happens in it. Loaded only by `watch`: it brings the relay.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as Conversation from "@buzz-orchestra/relay/Conversation"
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import { RelayObserver } from "@buzz-orchestra/relay/RelayObserver"
import * as RelayObserverLive from "@buzz-orchestra/relay/RelayObserverLive"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { EVENTS } from "@buzz-orchestra/runtime/BundleFiles"
import { objectLine } from "@buzz-orchestra/runtime/EventLine"
import { Clock, Deferred, Effect, Layer, Path, Stream } from "effect"
import { Output } from "./Output.ts"
import * as RelayServices from "./RelayServices.ts"
import * as RelayTransport from "./RelayTransport.ts"
import { agentChanges } from "./TrialFollowing.ts"
import { peopleOf, stateLine, statusLine, utteranceLine, utteranceObject } from "./WatchLines.ts"
import { find, type WatchRequest, type WatchTarget } from "./WatchTarget.ts"

/** Until the channel is archived, or the trial on this machine has ended. */
export const execute = Effect.fn("Watching.execute")(function* (request: WatchRequest, json: boolean) {
  const platform = Layer.merge(NodeCrypto.layerSecureRandom, SchnorrWasm.layer)
  yield* Effect.gen(function* () {
    const target = yield* find(request)
    const services = RelayObserverLive.layer.pipe(
      Layer.provideMerge(RelayServices.client(target.options)),
      Layer.provide(RelayTransport.layer("watch", target.actor.relayUrl, target.options))
    )
    yield* Effect.provide(Effect.scoped(watch(target, json)), services)
  }).pipe(Effect.provide(platform))
})

const watch = Effect.fnUntraced(function* (target: WatchTarget, json: boolean) {
  const observer = yield* RelayObserver
  const { actor, channelId } = target
  const observation = yield* observer.observe({ actor, channelId, kinds: Conversation.KINDS })
  const { print, style } = yield* printer
  const nameOf = yield* names(target)

  const archived = yield* Deferred.make<void>()
  let conversation = Conversation.empty
  const tell = Effect.fnUntraced(function* (event: NostrEvent) {
    const now = yield* Clock.currentTimeMillis
    const [next, utterance] = Conversation.step(conversation, event, now)
    conversation = next
    if (utterance === undefined) return
    const known = yield* nameOf(peopleOf(utterance))
    yield* print(
      json
        ? utteranceObject(utterance, event, now, known)
        : utteranceLine(utterance, event.created_at * 1000, known, style)
    )
    if (utterance._tag === "Announced" && utterance.type === "channel_archived")
      yield* Deferred.succeed(archived, undefined)
  })

  const following = Effect.andThen(Stream.runForEach(observation.events, tell), Effect.never)
  const ending = Effect.andThen(Deferred.await(archived), Effect.sleep(LAST_WORDS))
  const connecting = Stream.runForEach(observation.status, (status) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const line = json ? objectLine("Connection", now, status) : statusLine(status, now, style)
      return line === undefined ? Effect.void : print(line)
    })
  ).pipe(Effect.andThen(Effect.never))
  // The trial's end is written a moment before its channel is archived; either is the end of what there is to see.
  yield* Effect.raceAllFirst([following, connecting, ending, states(target, json)])
})

/** Times are of whole seconds: what was said in the same one may be shown after the archiving. */
const LAST_WORDS = "1 second"

/** The agents' states, when the trial writes its bundle on this machine. Returns when the trial has ended. */
const states = Effect.fnUntraced(function* ({ directory }: WatchTarget, json: boolean) {
  if (directory === undefined) return yield* Effect.never
  const { print, style } = yield* printer
  const path = yield* Path.Path
  yield* Stream.runForEach(agentChanges(path.join(directory, EVENTS)), (event) => {
    if (event._tag === "AgentChanged") {
      const { agentId, at, view } = event
      return print(json ? objectLine("AgentChanged", at, { agentId, view }) : stateLine(agentId, view, at, style))
    }
    const outcome = event.outcome ?? event.error ?? "without an outcome"
    return print(json ? objectLine("TrialEnded", event.at, { outcome }) : style.bold(`the trial ended: ${outcome}`))
  })
})

const printer = Effect.map(Output, ({ style, write }) => ({ style, print: (line: string) => write(`${line}\n`) }))

/** Looks up who is not known yet; whoever has no profile goes by the key, and whoever is no part of the trial by both. */
const names = Effect.fnUntraced(function* (target: WatchTarget) {
  const client = yield* BuzzClient
  const known = new Map(target.names)
  return Effect.fnUntraced(function* (pubkeys: ReadonlyArray<string>) {
    const unknown = [...new Set(pubkeys)].filter((pubkey) => !known.has(pubkey))
    if (unknown.length > 0) {
      const profiles = yield* client.profiles(target.actor, unknown).pipe(
        // The next line that names them asks again.
        Effect.catch((error) => Effect.as(Effect.logWarning(`no names: ${error.message}`), []))
      )
      for (const { name, pubkey } of profiles) known.set(pubkey, stranger(pubkey, name))
    }
    return (pubkey: string) => known.get(pubkey) ?? stranger(pubkey, undefined)
  })
})

/** A name that somebody gave themselves never stands alone: it may be another's. */
const stranger = (pubkey: string, name: string | undefined): string =>
  name === undefined ? pubkey.slice(0, 8) : `${name} (${pubkey.slice(0, 8)})`
