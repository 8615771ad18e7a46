/**
 * Draws up the accounts of a trial when its logs are collected, and writes `receipts.jsonl`.
 */
import { Effect, FileSystem, Ref, Stream } from "effect"
import { programLog, RECEIPTS } from "../BundleFiles.ts"
import * as LoggedAgent from "../LoggedAgent.ts"
import * as Receipt from "../Receipt.ts"
import type { AgentKnown, TeamState } from "../TeamState.ts"
import type { TrialRun } from "../TrialRuntime.ts"
import { accountsOf } from "./accountsOf.ts"

/** What the accounts are drawn up from. */
export interface AccountsInput {
  /** What the watch told; absent when nothing was launched. */
  readonly team: TeamState | undefined
  /** Logs that the watch did not deliver to their ends, as the trial directory has them: they are read from disk. */
  readonly fetched: ReadonlySet<string>
  /** Why logs may be missing; `undefined` when they are all there. */
  readonly trouble: string | undefined
}

/** The step of the clean-up. */
export const KEEP_ACCOUNTS = "keep the accounts"

/** The accounts are known before they are written, so that a disk that fails does not cost them. */
export const keepAccounts = Effect.fnUntraced(function* (run: TrialRun, { fetched, team, trouble }: AccountsInput) {
  const { directory, handle, record, trial } = run
  const known = yield* Effect.forEach(
    handle.credentials,
    Effect.fnUntraced(function* ({ agentId }) {
      const isFetched = STREAMS.some((stream) => fetched.has(programLog(agentId, stream)))
      return [agentId, isFetched ? yield* readLogs(run, agentId) : team?.agents.get(agentId)] as const
    })
  )
  const accounts = accountsOf(handle, trial.options.condition.manifest, new Map(known), trouble)
  yield* record.learn({ accounts })
  const lines = accounts.receipts.map((receipt) => `${Receipt.toLine(receipt)}\n`)
  yield* directory.write(RECEIPTS, lines.join(""), { mode: 0o600 })
})

const STREAMS = ["stdout", "stderr"] as const

const readLogs = Effect.fnUntraced(function* ({ directory, handle }: TrialRun, agentId: string) {
  const fs = yield* FileSystem.FileSystem
  const read = yield* Ref.make(LoggedAgent.initial(handle.channelId))
  for (const stream of STREAMS) {
    const path = directory.at(programLog(agentId, stream))
    if (!(yield* fs.exists(path))) continue
    const feed = (bytes: Uint8Array) => Ref.update(read, (agent) => LoggedAgent.feed(agent, stream, bytes))
    yield* Stream.runForEach(fs.stream(path), feed)
  }
  const known: AgentKnown = LoggedAgent.finish(yield* Ref.get(read))
  return known
})
