/**
 * How the polling harness ends a trial.
 */
import { Effect, FileSystem, Path, Redacted } from "effect"
import { BuzzClient } from "../../packages/relay/src/BuzzClient.ts"
import type { TrialHandle } from "../../packages/relay/src/TrialHandle.ts"
import { EnvironmentService } from "../../packages/runtime/src/EnvironmentService.ts"
import { DEFAULT_LAYOUT } from "../../packages/runtime/src/Layout.ts"
import type { TrialOptions } from "../../packages/runtime/src/TrialOptions.ts"
import type { Agent } from "./PollingLaunch.ts"
import { readLogs } from "./PollingWatch.ts"
import { Probe } from "./Probe.ts"

const USAGE = /usage update .*input=(?:Some\()?(\d+)/g

/**
 * Whether each agent has reported usage, ever: the whole of its logs again. The original goes on asking for a minute when one
 * has not, be it that nobody woke it; this one asks once.
 */
export const settle = (agents: ReadonlyArray<Agent>) =>
  Effect.forEach(agents, (agent) => Effect.map(readLogs(agent), (log) => log.search(USAGE) !== -1))

/**
 * TERM to whatever has the programs' directory in its arguments, two seconds for everybody, KILL to what is left. The sweep's
 * own shell would match and end itself halfway, were it not for the name of the forwarder, which it spares and so contains.
 */
const sweep = (signal: string) => `for p in /proc/[0-9]*; do
  cmdline=$(tr '\\0' ' ' <"$p/cmdline" 2>/dev/null) || continue
  case $cmdline in *relay-forwarder*) continue;; *${DEFAULT_LAYOUT.bin}*) kill -${signal} "\${p#/proc/}" 2>/dev/null;; esac
done; true`

/** Nobody looks afterwards whether it worked. */
export const stop = Effect.gen(function* () {
  const { exec } = yield* Probe
  yield* exec(sweep("TERM"))
  yield* Effect.sleep("2 seconds")
  yield* exec(sweep("KILL"))
})

/** Copies every log out, reads the channel, counts usage in every log and looks in each for every secret. */
export const collect = Effect.fnUntraced(function* ({ directory }: TrialOptions, handle: TrialHandle) {
  const { downloadDirectory } = yield* EnvironmentService
  const client = yield* BuzzClient
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(directory, { recursive: true })
  yield* downloadDirectory(DEFAULT_LAYOUT.logs, directory)
  const messages = yield* client.readChannel(
    { relayUrl: handle.relayUrl, identity: handle.user.identity },
    handle.channelId
  )
  const secrets = [handle.user, ...handle.credentials].map(({ identity }) => Redacted.value(identity.secretKey))
  const tokens: Record<string, number> = {}
  const leaks: Array<string> = []
  for (const file of yield* fs.readDirectory(directory)) {
    const log = yield* fs.readFileString(path.join(directory, file))
    tokens[file] = [...log.matchAll(USAGE)].reduce((sum, [, input]) => sum + Number(input), 0)
    if (secrets.some((secret) => log.includes(secret))) leaks.push(file)
  }
  yield* fs.writeFileString(path.join(directory, "summary.json"), JSON.stringify({ messages, tokens, leaks }))
})
