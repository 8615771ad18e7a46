/**
 * A trial from its installation to its outcome. What it starts belongs to the scope; what it leaves is in the stage.
 */
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import type { RelayError } from "@buzz-orchestra/relay/RelayError"
import { RelayObserver } from "@buzz-orchestra/relay/RelayObserver"
import { userRelayUrl } from "@buzz-orchestra/relay/RelayUrl"
import { Clock, Duration, Effect, FileSystem, Ref, Result, type Tracer } from "effect"
import { AgentSupervisor, type Supervision } from "../AgentSupervisor.ts"
import * as Budget from "../Budget.ts"
import { inBundle } from "../BundleFiles.ts"
import { EnvironmentService } from "../EnvironmentService.ts"
import * as LogCapture from "../LogCapture.ts"
import { outputProbe, satisfies } from "../OutputProbe.ts"
import * as Redaction from "../Redaction.ts"
import { inPhase, OutputProbeFailed } from "../RuntimeLaunchError.ts"
import { type InstalledStack, StackInstaller } from "../StackInstaller.ts"
import type { TeamState } from "../TeamState.ts"
import type { TrialRecord } from "../TrialRecord.ts"
import type { TrialEnd, TrialRun } from "../TrialRuntime.ts"
import * as Usage from "../Usage.ts"
import * as Channel from "./channelView.ts"
import { composeMembers, type Member } from "./composeTeam.ts"
import { ofPost, ofRelayUrl } from "./foreignReason.ts"
import { launchTeam } from "./launchTeam.ts"
import { type Ended, observeTrial } from "./observeTrial.ts"
import { beginBridge, type BridgeBegun, reachRelay } from "./reachRelay.ts"
import { postScript } from "./postScript.ts"
import { quote } from "./shellText.ts"
import type { Stage } from "./stage.ts"

interface Phases {
  readonly run: TrialRun
  readonly stage: Ref.Ref<Stage>
  readonly redactor: Redaction.Redactor
  /** Of the trial; absent when it is not traced. */
  readonly span: Tracer.AnySpan | undefined
}

/** Runs every phase in order and returns the outcome. */
export const runPhases = Effect.fnUntraced(function* (phases: Phases) {
  const { directory, handle, record, trial } = phases.run
  const members = yield* composeMembers(trial, handle, directory)
  const bridge = yield* beginBridge({ trial, handle })
  const { stack, supervision } = yield* record.phase("install", install(phases))
  yield* record.phase("forward", forward(phases, stack, supervision, bridge))
  yield* record.phase("launch", launchTeam({ ...phases, stack, supervision, members }))
  const agentIds = members.map(({ credential }) => credential.agentId)
  yield* deadline(record, "every agent is ready", Duration.toMillis(trial.readinessTimeout))
  const ready = supervision.awaitReady(agentIds, trial.readinessTimeout)
  yield* record.phase(
    "ready",
    Effect.mapError(ready, (reason) => inPhase("ready")(reason))
  )
  const posted = yield* record.phase("post", post(phases, supervision))
  yield* deadline(record, "the team has finished", trial.options.condition.manifest.trial_budget.timeout_seconds * 1000)
  const ended = yield* record.phase("observe", observe(phases, supervision, posted, members))
  const end: TrialEnd = { outcome: ended.outcome, detail: ended.detail, completion: ended.completion }
  yield* record.learn({
    outcome: { outcome: end.outcome, detail: end.detail },
    ...(end.completion === undefined ? {} : { completion: end.completion })
  })
  yield* record.publish({ _tag: "OutcomeDecided", outcome: end.outcome, detail: end.detail })
  if (end.completion !== undefined)
    yield* Ref.update(phases.stage, (stage) => ({ ...stage, finishing: trial.orchestratorId }))
  yield* verifyOutput(phases, ended)
  return end
})

const deadline = (record: TrialRecord, what: string, millis: number) =>
  record.publish({ _tag: "DeadlineSet", what, millis })

const install = Effect.fnUntraced(function* ({ redactor, run, span, stage }: Phases) {
  const environment = yield* EnvironmentService
  const installer = yield* StackInstaller
  const supervisor = yield* AgentSupervisor
  const { directory, handle, record, trial } = run
  const stack = yield* installer.install(trial.options.stack)
  yield* record.learn({ stack })
  yield* record.publish({ _tag: "StackInstalled", digests: stack.digests })
  const capture = yield* LogCapture.open({ at: (log) => directory.at(inBundle(log)), redactor, warn: record.warn })
  yield* Ref.update(stage, (before) => ({ ...before, stack, capture }))
  const supervision = yield* Effect.gen(function* () {
    for (const { source, target } of trial.options.uploads ?? []) yield* uploadAny(environment, source, target)
    return yield* supervisor.open({
      layout: stack.layout,
      channelId: handle.channelId,
      onWatchEvent: capture.write,
      redact: (text) => Redaction.apply(redactor, text),
      publish: record.publish,
      warn: record.warn,
      ...(span === undefined ? {} : { span })
    })
  }).pipe(Effect.mapError((reason) => inPhase("install")(reason)))
  yield* Ref.update(stage, (before) => ({ ...before, supervision }))
  return { stack, supervision }
})

const uploadAny = Effect.fnUntraced(function* (
  environment: EnvironmentService["Service"],
  source: string,
  target: string
) {
  const fs = yield* FileSystem.FileSystem
  // It was there when the trial was prepared; what vanished since is reported by the upload itself.
  const isFolder = yield* fs.stat(source).pipe(
    Effect.map(({ type }) => type === "Directory"),
    Effect.orElseSucceed(() => false)
  )
  yield* isFolder ? environment.uploadDirectory(source, target) : environment.upload({ path: source }, target)
})

const forward = Effect.fnUntraced(function* (
  { run }: Phases,
  stack: InstalledStack,
  supervision: Supervision,
  bridge: BridgeBegun | undefined
) {
  const { handle, record, trial } = run
  const relay = yield* Effect.mapError(reachRelay({ trial, handle, stack, supervision, bridge }), (reason) =>
    inPhase("forward")(reason)
  )
  yield* record.learn({ relay })
  if (relay._tag === "RelayNotProbed")
    yield* record.warn(`whether the relay answers programs in the environment is not known: ${relay.detail}`)
})

/** Opens the observation, then posts the task once, as the user, with the mention by public key: its text stays inert. */
const post = Effect.fnUntraced(function* ({ run, stage }: Phases, supervision: Supervision) {
  const observer = yield* RelayObserver
  const client = yield* BuzzClient
  const { handle, record, trial } = run
  const relayUrl = yield* Effect.fromResult(
    Result.mapError(userRelayUrl(handle), (invalid) => inPhase("post")(ofRelayUrl(invalid, "user"), invalid))
  )
  const actor = { relayUrl, identity: handle.user.identity }
  const agentId = trial.orchestratorId
  const pubkey = handle.credentials.find((credential) => credential.agentId === agentId)?.identity.pubkey ?? ""
  const orchestrator = { agentId, pubkey }
  const refused = (error: RelayError) =>
    inPhase("post")(ofPost(error.reason, { relay: relayUrl, ...orchestrator }), error)
  const channel = yield* Channel.make({ handle, record, supervision })
  yield* Ref.update(stage, (before) => ({ ...before, actor, channel }))
  const { channelId } = handle
  const sending = Effect.gen(function* () {
    const observation = yield* observer.observe({ actor, channelId })
    const task = yield* client.send(actor, { channelId, content: trial.task, mentions: [pubkey] })
    return { observation, task }
  }).pipe(Effect.mapError(refused))
  const death = Effect.mapError(supervision.awaitDeath, (reason) => inPhase("post")(reason))
  const { observation, task } = yield* Effect.raceFirst(sending, death)
  yield* record.learn({ taskEvent: task })
  const postedMillis = yield* Clock.currentTimeMillis
  const { fixture } = trial.options
  const script = postScript({ fixture, handle, actor, task, orchestrator })
  const scripted = yield* Effect.raceFirst(Effect.mapError(script, refused), death)
  yield* record.learn({ scripted })
  return { actor, channel, observation, task, postedMillis, scripted }
})

const observe = Effect.fnUntraced(function* (
  { run }: Phases,
  supervision: Supervision,
  posted: Effect.Success<ReturnType<typeof post>>,
  members: ReadonlyArray<Member>
) {
  const client = yield* BuzzClient
  const { handle, record, trial } = run
  const { condition } = trial.options
  return yield* observeTrial({
    ...posted,
    handle,
    record,
    client,
    supervision,
    team: {
      agentIds: handle.credentials.map(({ agentId }) => agentId),
      orchestratorId: trial.orchestratorId,
      solo: condition.isSolo
    },
    budgetMillis: condition.manifest.trial_budget.timeout_seconds * 1000,
    overBudget: ({ agents }) => Budget.exceeded(condition.manifest, members.map(usageIn(agents)))
  }).pipe(Effect.mapError((reason) => inPhase("observe")(reason)))
})

const usageIn =
  (agents: TeamState["agents"]) =>
  ({ agentClass, credential: { agentId } }: Member): Budget.AgentUsage => {
    const known = agents.get(agentId)
    return { agentId, agentClass, totals: known === undefined ? undefined : Usage.totals(known.usage) }
  }

/** Characters of a wrong output that an error shows. */
const SHOWN_OUTPUT = 200

/** Outcomes of a team that finished, as far as it goes. */
const FINISHED: ReadonlySet<string> = new Set(["done", "stopped-without-done"])

/** Only where the team finished, and only for the condition whose output is known. */
const verifyOutput = Effect.fnUntraced(function* ({ run }: Phases, { outcome }: Ended) {
  const { exec, facts } = yield* EnvironmentService
  const probe = outputProbe(run.trial.options.condition.manifest.condition, facts.workDirectory)
  if (probe === undefined || !FINISHED.has(outcome)) return
  const path = quote(probe.path)
  const check = Effect.gen(function* () {
    const { exitCode, stdout } = yield* exec(`[ -f ${path} ] && cat ${path}`)
    if (exitCode === 0 && satisfies(probe, stdout)) return
    const actual = exitCode === 0 ? stdout.slice(0, SHOWN_OUTPUT) : undefined
    return yield* new OutputProbeFailed({ path: probe.path, expected: probe.expected, actual })
  })
  yield* run.record.phase(
    "verify-output",
    Effect.mapError(check, (reason) => inPhase("verify-output")(reason))
  )
})
