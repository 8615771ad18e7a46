/**
 * Bench `notice`: the time from the relay's acceptance of `DONE:` to our notice of it, for the observation that a trial
 * uses, and for a program that asks once a second.
 */
import { join } from "node:path"
import { Clock, Deferred, Duration, Effect, Fiber, Random, Redacted, Ref, Schema } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { conditionWith } from "../packages/manifest/src/testing/TestManifest.ts"
import { BuzzClient } from "../packages/relay/src/BuzzClient.ts"
import { DONE_PREFIX, RelayObserver } from "../packages/relay/src/RelayObserver.ts"
import { EmbeddedRelay } from "../packages/relay/src/server/EmbeddedRelay.ts"
import type { TrialHandle } from "../packages/relay/src/TrialHandle.ts"
import { TrialProvisioner } from "../packages/relay/src/TrialProvisioner.ts"
import { Arrivals } from "./Arrivals.ts"
import { stackDirectory } from "./ReferenceStack.ts"
import { millis, ratio, table } from "./Report.ts"
import { median, quantile } from "./Statistics.ts"

const OBSERVER_ROUNDS = 200
/** Each takes a second and more; a busy machine gets fewer, but never fewer than `LEAST_POLL_ROUNDS`. */
const POLL_ROUNDS = 40
const LEAST_POLL_ROUNDS = 10
const POLL_BUDGET_MILLIS = 50_000

/** How often the program asks. */
const POLL_INTERVAL = Duration.seconds(1)

/** Of a message; the interval and a program's start are less. */
const NOTICE_LIMIT = "20 seconds"

/** The report. */
export const notice = Effect.gen(function* () {
  const observed = yield* observerLatencies
  const polled = yield* pollLatencies
  const row = (name: string, values: ReadonlyArray<number>) => [
    name,
    String(values.length),
    ...[0.5, 0.99].flatMap((q) => [millis(quantile(values, q)), ratio(quantile(values, q), quantile(observed, q))])
  ]
  const rows = [
    row("RelayObserver.awaitDone", observed),
    row(
      "asking once a second",
      polled.map(({ latency }) => latency)
    )
  ]
  const run = median(polled.map((one) => one.run))
  const ideal = [0.5, 0.99].map((q) => q * Duration.toMillis(POLL_INTERVAL))
  const ratios = ideal.map((value, index) => ratio(value, quantile(observed, index === 0 ? 0.5 : 0.99)))
  return [
    table(["`DONE:` accepted → noticed", "n", "p50 ms", "ratio", "p99 ms", "ratio"], rows),
    "",
    `The program that asks takes ${millis(run)} ms here (median), a native one a few. One that took no time would notice`,
    `after ${ideal.join(" and ")} ms, ${ratios.join(" and ")}.`
  ].join("\n")
}).pipe(Effect.scoped)

/** A trial's identities and channel, with nobody but the lead in it. */
const provisioned = Effect.fnUntraced(function* (trialId: string) {
  const { url } = yield* EmbeddedRelay
  const provisioner = yield* TrialProvisioner
  const { manifest, sha256 } = conditionWith()
  return yield* Effect.acquireRelease(
    provisioner.create({
      runId: "bench",
      trialId,
      manifest,
      manifestHash: sha256,
      relayUrl: url,
      apiKeys: { "test-model": undefined }
    }),
    provisioner.teardown
  )
})

const userOf = ({ relayUrl, user }: TrialHandle) => ({ relayUrl, identity: user.identity })

const leadOf = ({ credentials: [lead], relayUrl }: TrialHandle) =>
  lead === undefined
    ? Effect.die(new Error("a trial has a lead"))
    : Effect.succeed({ relayUrl, identity: lead.identity })

/** Since the relay accepted this event. */
const since = Effect.fnUntraced(function* (eventId: string) {
  const now = performance.now()
  const arrival = (yield* Arrivals).of(eventId)
  return arrival === undefined ? yield* Effect.die(new Error(`${eventId} never came`)) : now - arrival
})

const observerLatencies = Effect.gen(function* () {
  const observer = yield* RelayObserver
  const client = yield* BuzzClient
  const handle = yield* provisioned("notice-observer")
  const { channelId } = handle
  const lead = yield* leadOf(handle)
  const observation = yield* observer.observe({ actor: userOf(handle), channelId })
  const latencies: Array<number> = []
  let after = (yield* client.send(userOf(handle), { channelId, content: "a task" })).id
  for (let round = 0; round < OBSERVER_ROUNDS; round++) {
    const noticed = yield* observation.awaitDone({ orchestrator: lead.identity.pubkey, after }).pipe(
      Effect.flatMap(({ id }) => Effect.map(since(id), (latency) => ({ id, latency }))),
      Effect.timeout(NOTICE_LIMIT),
      Effect.forkChild({ startImmediately: true })
    )
    // As in a trial, the wait has begun long before the message comes.
    yield* Effect.sleep(Duration.millis(yield* Random.nextIntBetween(2, 20)))
    yield* client.send(lead, { channelId, content: `${DONE_PREFIX} ${round}` })
    const { id, latency } = yield* Fiber.join(noticed)
    latencies.push(latency)
    after = id
  }
  return latencies
})

const Messages = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ id: Schema.String, pubkey: Schema.String, content: Schema.String }))
)

/** A notice: how late it came, and how long the program ran that brought it. In milliseconds. */
interface Noticed {
  readonly latency: number
  readonly run: number
}

/** Gets the next notice. */
type Awaited = Deferred.Deferred<Noticed> | undefined

const pollLatencies = Effect.gen(function* () {
  const client = yield* BuzzClient
  const handle = yield* provisioned("notice-poll")
  const { channelId } = handle
  const lead = yield* leadOf(handle)
  const awaited = yield* Ref.make<Awaited>(undefined)
  yield* Effect.forkScoped(poll(handle, lead.identity.pubkey, awaited))
  const notices: Array<Noticed> = []
  const end = performance.now() + POLL_BUDGET_MILLIS
  while (notices.length < LEAST_POLL_ROUNDS || (notices.length < POLL_ROUNDS && performance.now() < end)) {
    const noticed = yield* Deferred.make<Noticed>()
    yield* Ref.set(awaited, noticed)
    // The message before was noticed at the end of a question, where a cycle begins.
    const cycle = Duration.toMillis(POLL_INTERVAL) + (notices.at(-1)?.run ?? 0)
    yield* Effect.sleep(Duration.millis((yield* Random.next) * cycle))
    yield* client.send(lead, { channelId, content: `${DONE_PREFIX} ${notices.length}` })
    notices.push(yield* Effect.timeout(Deferred.await(noticed), NOTICE_LIMIT))
  }
  return notices
})

/** Asks for ever: a program is started, its answer is read, and the next question comes a second after that. */
const poll = Effect.fnUntraced(function* (handle: TrialHandle, orchestrator: string, awaited: Ref.Ref<Awaited>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const program = join(stackDirectory(), "buzz")
  const seen = new Set<string>()
  const question = ChildProcess.make(program, ["messages", "get", "--channel", handle.channelId, "--limit", "100"], {
    extendEnv: true,
    env: {
      BUZZ_RELAY_URL: handle.relayUrl,
      BUZZ_PRIVATE_KEY: Redacted.value(handle.user.identity.secretKey),
      PATH: `${process.execPath.replace(/\/[^/]*$/, "")}:${process.env["PATH"] ?? ""}`
    }
  })
  for (;;) {
    const begun = yield* Clock.currentTimeMillis
    const messages = yield* Effect.flatMap(spawner.string(question), Schema.decodeEffect(Messages))
    const run = (yield* Clock.currentTimeMillis) - begun
    const done = messages.find(
      ({ content, id, pubkey }) => pubkey === orchestrator && content.startsWith(DONE_PREFIX) && !seen.has(id)
    )
    if (done !== undefined) {
      seen.add(done.id)
      const waiting = yield* Ref.get(awaited)
      if (waiting !== undefined) yield* Deferred.succeed(waiting, { latency: yield* since(done.id), run })
    }
    yield* Effect.sleep(POLL_INTERVAL)
  }
})
