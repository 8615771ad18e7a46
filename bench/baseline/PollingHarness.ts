/**
 * A model of the harness that polls: the same trial, run the way the earlier harness runs it, step by step and look by look.
 * It does the same work through the same services, so that what differs is the way of looking:
 *
 * - Everything is serial: uploads one after the other, agents launched one after the other.
 * - What it knows it asks for, once a second: readiness, liveness, `DONE:`. Each look into the environment is a `Probe`.
 * - Logs are read whole, from their beginning, each time.
 * - Between TERM and KILL it sleeps for two seconds, whoever is gone by then.
 *
 * Where the real one is slower for reasons of its own it is not copied: it speaks with the relay through a program that it
 * starts for every call, publishes profiles again, reads logs with Python on the thread that runs every other trial, and
 * installs what verifiers need. Here the relay's native client is used and the rest left out, so the ratios are lower bounds.
 */
import { Effect } from "effect"
import { TrialProvisioner } from "../../packages/relay/src/TrialProvisioner.ts"
import type { TrialOptions } from "../../packages/runtime/src/TrialOptions.ts"
import { agentsStart } from "../AgentsStart.ts"
import { now, type Told } from "../Measured.ts"
import { collect, settle, stop } from "./PollingEnd.ts"
import { install, launch } from "./PollingLaunch.ts"
import { awaitDone, awaitReady, post } from "./PollingWatch.ts"

/** Runs the trial to its end. */
export const pollingTrial = Effect.fnUntraced(function* (options: TrialOptions) {
  const provisioner = yield* TrialProvisioner
  const started = now()
  const handle = yield* provisioner.create({
    runId: options.runId,
    trialId: options.trialId,
    manifest: options.condition.manifest,
    manifestHash: options.condition.sha256,
    relayUrl: options.relayUrl,
    apiKeys: options.apiKeys
  })
  yield* install(options)
  const agents = yield* Effect.forEach(handle.credentials, (credential) => launch(options, handle, credential))
  yield* awaitReady(agents, handle.channelId)
  const readyAt = now()
  const own = yield* agentsStart
  const isSolo = options.condition.isSolo
  yield* post(options, handle)
  const done = yield* awaitDone({ handle, agents, isSolo })
  const noticedAt = now()
  yield* settle(agents)
  yield* stop
  yield* collect(options, handle)
  yield* provisioner.teardown(handle)
  const told: Told = { started, readyAt, noticedAt, endedAt: now(), agents: own, doneId: done.id }
  return told
}, Effect.scoped)
