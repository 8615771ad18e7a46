/**
 * Every agent of a bundle with what its logs on this machine say of it, for accounts that are drawn up again.
 */
import type { ExperimentManifest } from "@buzz-orchestra/manifest/ExperimentManifest"
import { Effect, FileSystem, Ref, Stream } from "effect"
import { programLog } from "../BundleFiles.ts"
import * as LoggedAgent from "../LoggedAgent.ts"
import type { AccountedAgent } from "../Receipt.ts"
import type { TrialDirectory } from "../TrialDirectory.ts"
import type { ProvisionedAgent } from "../TrialEvent.ts"
import { classOf } from "./accountsOf.ts"

export const accountAgents = Effect.fnUntraced(function* (
  directory: TrialDirectory,
  manifest: ExperimentManifest,
  trial: { readonly agents: ReadonlyArray<ProvisionedAgent>; readonly channelId: string | undefined }
) {
  const agents = yield* Effect.forEach(
    trial.agents,
    Effect.fnUntraced(function* ({ agentId, endpoint }) {
      const agentClass = classOf(manifest, agentId)
      // Agents were provisioned from this roster.
      if (agentClass === undefined) return []
      const known = yield* readLogs(directory, agentId, trial.channelId ?? "")
      const agent: AccountedAgent = { agentId, agentClass, price: manifest.prices[endpoint], known }
      return [agent]
    })
  )
  return agents.flat()
})

const readLogs = Effect.fnUntraced(function* (directory: TrialDirectory, agentId: string, channelId: string) {
  const fs = yield* FileSystem.FileSystem
  const read = yield* Ref.make(LoggedAgent.initial(channelId))
  for (const stream of ["stdout", "stderr"] as const) {
    const path = directory.at(programLog(agentId, stream))
    if (!(yield* fs.exists(path))) continue
    const feed = (bytes: Uint8Array) => Ref.update(read, (agent) => LoggedAgent.feed(agent, stream, bytes))
    yield* Stream.runForEach(fs.stream(path), feed)
  }
  return LoggedAgent.finish(yield* Ref.get(read))
})
