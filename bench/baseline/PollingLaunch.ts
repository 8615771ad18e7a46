/**
 * How the polling harness puts the stack into the environment and starts the agents.
 */
import { rootCertificates } from "node:tls"
import { Effect } from "effect"
import type { AgentCredential, TrialHandle } from "../../packages/relay/src/TrialHandle.ts"
import { EnvironmentService } from "../../packages/runtime/src/EnvironmentService.ts"
import { launchEnvironment } from "../../packages/runtime/src/LaunchEnvironment.ts"
import { DEFAULT_LAYOUT } from "../../packages/runtime/src/Layout.ts"
import { composeSystemPrompt } from "../../packages/runtime/src/SystemPrompt.ts"
import type { TrialOptions } from "../../packages/runtime/src/TrialOptions.ts"
import { PROMPT_TEXT } from "../../packages/manifest/src/testing/TestManifest.ts"
import { Probe } from "./Probe.ts"

/** A launched agent, as far as this harness knows it. */
export interface Agent {
  readonly agentId: string
  readonly pid: number
}

const { bin, caBundle, logs, prompts } = DEFAULT_LAYOUT

const encode = (text: string) => new TextEncoder().encode(text)

/** Folders, each program in turn, their modes, the certificates; every trial uploads every byte again. */
export const install = Effect.fnUntraced(function* ({ relayUrl, stack }: TrialOptions) {
  const { bridge, upload } = yield* EnvironmentService
  const { exec } = yield* Probe
  yield* exec(`mkdir -p ${bin} ${prompts} ${logs}`)
  for (const [name, path] of Object.entries(stack.programs)) yield* upload({ path }, `${bin}/${name}`)
  const names = Object.keys(stack.programs).map((name) => `${bin}/${name}`)
  yield* exec(`chmod 0755 ${names.join(" ")}`)
  yield* upload({ content: encode(rootCertificates.join("\n")) }, caBundle)
  // A system store that is there but empty is one of an installation that broke off.
  yield* exec(
    `s=/etc/ssl/certs/ca-certificates.crt; if [ -s $s ]; then echo present; ` +
      `elif mkdir -p \${s%/*} 2>/dev/null && cp ${caBundle} $s 2>/dev/null; then echo seeded; else echo failed; fi`
  )
  // The relay, for a container that has no network. The real one starts a forwarder inside and polls for its readiness.
  const relay = relayUrl.replace(/^ws:\/\//, "")
  if (bridge !== undefined) yield* bridge(relay, relay)
})

/** One agent: its prompt is uploaded, and one look starts it in the background and prints its pid. */
export const launch = Effect.fnUntraced(function* (
  options: TrialOptions,
  handle: TrialHandle,
  credential: AgentCredential
) {
  const { facts, upload } = yield* EnvironmentService
  const { exec } = yield* Probe
  const { agentId } = credential
  const agentClass = options.condition.manifest.roster.find(({ id }) => agentId.startsWith(`${id}-`))
  if (agentClass === undefined) return yield* Effect.die(new Error(`no class for ${agentId}`))
  const promptPath = `${prompts}/${agentId}.system-prompt.md`
  const prompt = composeSystemPrompt({ persona: PROMPT_TEXT, credential, handle })
  yield* upload({ content: encode(prompt) }, promptPath, { mode: 0o600 })
  const env = yield* Effect.fromResult(
    launchEnvironment({
      dialect: options.condition.dialect,
      agentClass,
      credential,
      handle,
      endpoints: options.endpoints,
      layout: DEFAULT_LAYOUT,
      facts,
      trialTimeoutSeconds: options.condition.manifest.trial_budget.timeout_seconds,
      defaultMaxRounds: 0,
      promptPath,
      operatorRustLog: undefined,
      inheritedNoProxy: undefined
    })
  )
  // Truncated, then appended to, because the bench's own growth appends, too.
  const started = yield* exec(
    `: >${logs}/${agentId}.stdout.log; : >${logs}/${agentId}.stderr.log; ` +
      `${bin}/buzz-acp </dev/null >>${logs}/${agentId}.stdout.log 2>>${logs}/${agentId}.stderr.log & echo $!`,
    env
  )
  const agent: Agent = { agentId, pid: Number(started.stdout.trim().split("\n").at(-1)) }
  return agent
})
