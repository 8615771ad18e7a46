/**
 * What happened on the relay, at the end of a trial: reads the channel once more, writes the transcript, and exports the
 * evidence as the last thing that goes into the environment.
 */
import { type Actor, BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import { Duration, Effect, Option } from "effect"
import { TRANSCRIPT } from "../BundleFiles.ts"
import * as Redaction from "../Redaction.ts"
import type { TrialRun } from "../TrialRuntime.ts"
import { type ChannelView, namesOf, peopleOf } from "./channelView.ts"
import { EXPORT_EVIDENCE, exportEvidence, keepReason } from "./evidence.ts"
import { sortedJson } from "./sortedJson.ts"
import { transcript } from "./transcript.ts"

/** A relay that does not answer by then leaves the transcript as it was observed. */
export const TRANSCRIPT_DEADLINE = Duration.seconds(15)
/** One small file, and a few questions to the relay. */
export const EVIDENCE_DEADLINE = Duration.seconds(30)

export interface KeepEvidence {
  readonly run: TrialRun
  readonly redactor: Redaction.Redactor
  readonly channel: ChannelView
  /** The user. */
  readonly actor: Actor | undefined
}

/** Steps of the clean-up; whatever cannot be had is recorded, and a verifier learns that something may be missing. */
export const keepEvidence = Effect.fnUntraced(function* ({ actor, channel, redactor, run }: KeepEvidence) {
  const { directory, handle, record, trial } = run
  const rereading = readAgain(run, actor, channel)
  const complete = Option.isSome(yield* record.step("read the channel", TRANSCRIPT_DEADLINE, rereading))
  const { events } = yield* channel.seen
  yield* record.learn({ messageCount: events.length })
  const { completion, scripted = [], taskEvent } = yield* record.facts
  const said = {
    channelId: handle.channelId,
    events,
    names: namesOf(handle),
    people: peopleOf(handle),
    taskEventId: taskEvent?.id,
    complete,
    redact: (text: string) => Redaction.apply(redactor, text)
  }
  const writing = directory.write(TRANSCRIPT, sortedJson(transcript(said)))
  yield* record.step("write the transcript", TRANSCRIPT_DEADLINE, writing)
  const { channelLabel, evidenceFor, runId, trialId } = trial.options
  const exporting = Effect.gen(function* () {
    const observedChannels = yield* observe(run, actor)
    yield* exportEvidence(directory, record, {
      ...said,
      taskName: evidenceFor ?? channelLabel ?? "",
      runId,
      trialId,
      completionMessageId: completion?.id,
      directory: handle.directory ?? [],
      scripted,
      observedChannels
    })
  })
  if (Option.isSome(yield* record.step(EXPORT_EVIDENCE, EVIDENCE_DEADLINE, exporting))) return
  const { cleanup } = yield* record.facts
  const reason = cleanup.find(({ step }) => step === EXPORT_EVIDENCE)?.error ?? "it was not exported"
  yield* record.step("keep why there is no evidence", EVIDENCE_DEADLINE, keepReason(directory, reason))
})

/** The relay has the last word on what was said: whatever the observation missed is added. */
const readAgain = Effect.fnUntraced(function* ({ handle }: TrialRun, actor: Actor | undefined, channel: ChannelView) {
  if (actor === undefined) return
  const client = yield* BuzzClient
  const events = yield* client.readChannel(actor, handle.channelId)
  yield* Effect.forEach(events, (event) => channel.see(event), { discard: true })
})

/** As the orchestrator sees them: a channel that it made without the user is not visible to the user. */
const observe = Effect.fnUntraced(function* ({ handle, trial }: TrialRun, actor: Actor | undefined) {
  const names = trial.options.fixture?.observedChannels ?? []
  const orchestrator = handle.credentials.find(({ agentId }) => agentId === trial.orchestratorId)
  if (actor === undefined || orchestrator === undefined) return []
  const client = yield* BuzzClient
  const as = { ...actor, identity: orchestrator.identity }
  const found = yield* Effect.forEach(names, (name) => client.findChannels(as, name))
  return yield* Effect.forEach(found.flat(), (channel) =>
    Effect.map(client.members(as, channel.channelId), (members) => ({ channel, members }))
  )
})
