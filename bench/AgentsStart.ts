/**
 * How long the agents of a trial took by themselves, which no harness can shorten: from the start of the slowest one's process
 * to its subscription. Read from the kernel and from their logs, the same way for both harnesses.
 */
import { uptime } from "node:os"
import { Effect } from "effect"
import { DEFAULT_LAYOUT } from "../packages/runtime/src/Layout.ts"
import { Meter } from "./Meter.ts"

/** Clock ticks per second in `/proc/<pid>/stat`, on every Linux architecture that Node runs on. */
const TICKS = 100

/** `<agent> <start in ticks after boot>` for each agent, then `<log>:<line>` for each subscription. */
const SCRIPT = `for p in /proc/[0-9]*; do
  grep -qzx ${DEFAULT_LAYOUT.bin}/buzz-acp "$p/cmdline" 2>/dev/null || continue
  prompt=$(tr '\\0' '\\n' <"$p/environ" | grep '^BUZZ_ACP_SYSTEM_PROMPT_FILE=')
  agent=\${prompt##*/}
  read -r stat <"$p/stat" && set -- \${stat##*) } && shift 19 && echo "\${agent%.system-prompt.md} $1"
done
grep -H 'buzz_acp: subscribed to channel ' ${DEFAULT_LAYOUT.logs}/*.stdout.log`

/** In milliseconds; to be asked while all agents are ready and running. */
export const agentsStart = Effect.gen(function* () {
  const { uncounted } = yield* Meter
  const bootMillis = Date.now() - uptime() * 1000
  const { stdout } = yield* uncounted.exec(SCRIPT)
  const starts = new Map<string, number>()
  const durations: Array<number> = []
  for (const line of stdout.split("\n")) {
    const [, agent, ticks] = /^(\S+) (\d+)$/.exec(line) ?? []
    if (agent !== undefined) starts.set(agent, bootMillis + (Number(ticks) * 1000) / TICKS)
    const [, name = "", at = ""] = /\/([^/]+)\.stdout\.log:(\S+)/.exec(line) ?? []
    const start = starts.get(name)
    if (start !== undefined) durations.push(Date.parse(at) - start)
  }
  if (durations.length === 0) return yield* Effect.die(new Error(`no agent is ready: ${stdout}`))
  return Math.max(...durations)
})
