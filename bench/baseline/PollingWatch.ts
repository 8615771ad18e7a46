/**
 * How the polling harness finds out what happens: by asking, once a second.
 */
import { Effect } from "effect"
import { BuzzClient } from "../../packages/relay/src/BuzzClient.ts"
import { DONE_PREFIX } from "../../packages/relay/src/RelayObserver.ts"
import type { TrialHandle } from "../../packages/relay/src/TrialHandle.ts"
import { DEFAULT_LAYOUT } from "../../packages/runtime/src/Layout.ts"
import type { TrialOptions } from "../../packages/runtime/src/TrialOptions.ts"
import { Meter } from "../Meter.ts"
import type { Agent } from "./PollingLaunch.ts"
import { Probe } from "./Probe.ts"

/** Between two rounds of questions. */
const POLL = "1 second"

/** Whether processes live is asked in every round until they are ready, later in every tenth. */
const LIVENESS_EVERY = 10

/** Rounds until a bench is taken for stuck. */
const MOST_ROUNDS = 90

/** Any of these in a lone agent's log ends its trial, `DONE:` or not. */
const TURN_ENDED = /turn (?:complete|cancelled|hit max_tokens|hit max_turn_requests|refused) for/

/** Both logs of an agent, from their beginning to their end. */
export const readLogs = Effect.fnUntraced(function* ({ agentId }: Agent) {
  const { exec } = yield* Probe
  const { noteLogs } = yield* Meter
  const at = `${DEFAULT_LAYOUT.logs}/${agentId}`
  const { stdout } = yield* exec(`cat ${at}.stdout.log ${at}.stderr.log`)
  yield* noteLogs(Buffer.byteLength(stdout))
  return stdout
})

const requireAlive = Effect.fnUntraced(function* (agents: ReadonlyArray<Agent>) {
  const { exec } = yield* Probe
  const { stdout } = yield* exec(
    agents.map(({ agentId, pid }) => `kill -0 ${pid} 2>/dev/null || echo DEAD:${agentId}`).join("\n")
  )
  if (stdout.trim() !== "") return yield* Effect.die(new Error(`agents died: ${stdout}`))
})

/** Liveness of all, then the logs of each that is not ready yet. One that is late by a moment costs a whole second. */
export const awaitReady = Effect.fnUntraced(function* (agents: ReadonlyArray<Agent>, channelId: string) {
  let pending = agents
  for (let round = 0; pending.length > 0; round++) {
    if (round > 0) yield* Effect.sleep(POLL)
    if (round > MOST_ROUNDS) return yield* Effect.die(new Error("agents are not ready"))
    yield* requireAlive(agents)
    pending = yield* Effect.filter(pending, (agent) =>
      Effect.map(readLogs(agent), (log) => !log.includes(`subscribed to channel ${channelId}`))
    )
  }
})

const userOf = ({ relayUrl, user }: TrialHandle) => ({ relayUrl, identity: user.identity })

/** The task, as the user. */
export const post = Effect.fnUntraced(function* ({ instruction }: TrialOptions, handle: TrialHandle) {
  const client = yield* BuzzClient
  const [lead] = handle.credentials
  if (lead === undefined) return yield* Effect.die(new Error("a trial has a lead"))
  yield* client.send(userOf(handle), {
    channelId: handle.channelId,
    content: `@${lead.agentId} ${instruction}`,
    mentions: [lead.identity.pubkey]
  })
})

/**
 * The channel, and of a lone agent its logs, in every round. The channel comes first, so that a turn that says `DONE:` and ends
 * is not taken for one without; here it is read once more, because the logs may take long to read.
 */
export const awaitDone = Effect.fnUntraced(function* (trial: {
  readonly handle: TrialHandle
  readonly agents: ReadonlyArray<Agent>
  readonly isSolo: boolean
}) {
  const client = yield* BuzzClient
  const { agents, handle, isSolo } = trial
  const lead = handle.credentials[0]?.identity.pubkey
  const lookForDone = Effect.map(client.readChannel(userOf(handle), handle.channelId), (messages) =>
    messages.find(({ content, pubkey }) => pubkey === lead && content.startsWith(DONE_PREFIX))
  )
  for (let round = 0; round < MOST_ROUNDS; round++) {
    if (round % LIVENESS_EVERY === 0) yield* requireAlive(agents)
    const done = yield* lookForDone
    if (done !== undefined) return done
    const [agent] = agents
    if (isSolo && agent !== undefined && TURN_ENDED.test(yield* readLogs(agent)))
      return (yield* lookForDone) ?? (yield* Effect.die(new Error("the lead stopped without DONE:")))
    yield* Effect.sleep(POLL)
  }
  return yield* Effect.die(new Error("nobody said DONE:"))
})
