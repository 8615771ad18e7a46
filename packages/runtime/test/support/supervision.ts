/**
 * A supervision over the recording environment, with agents that behave as the test says.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { AgentSupervisor, type AgentLaunch } from "@buzz-orchestra/runtime/AgentSupervisor"
import * as AgentSupervisorLive from "@buzz-orchestra/runtime/AgentSupervisorLive"
import { DEFAULT_LAYOUT } from "@buzz-orchestra/runtime/Layout"
import { RecordingEnvironment, type RecordingOptions } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack, type TestStackOptions } from "@buzz-orchestra/runtime/testing/TestStack"
import type { TrialHappening } from "@buzz-orchestra/runtime/TrialEvent"
import type { WatchEvent } from "@buzz-orchestra/runtime/WatchEvent"
import { Effect, Layer, Redacted, Ref } from "effect"

export const CHANNEL = "99999999-8888-4777-8666-555555555555"

/** `AgentSupervisor` and the test's side of everything around it. */
export const supervisionLayer = (options: { environment?: RecordingOptions; stack?: TestStackOptions } = {}) =>
  AgentSupervisorLive.layer.pipe(
    Layer.provideMerge(TestStack.layerWith(options.stack)),
    Layer.provideMerge(RecordingEnvironment.layer(options.environment)),
    Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer))
  )

/** Opens a supervision of the trial's channel. `seen` holds the watch events that passed through it, `told` what it told. */
export const openSupervision = Effect.gen(function* () {
  const supervisor = yield* AgentSupervisor
  const seen = yield* Ref.make<ReadonlyArray<WatchEvent>>([])
  const told = yield* Ref.make<ReadonlyArray<TrialHappening>>([])
  const supervision = yield* supervisor.open({
    layout: DEFAULT_LAYOUT,
    channelId: CHANNEL,
    onWatchEvent: (event) => Ref.update(seen, (all) => [...all, event]),
    publish: (happening) => Ref.update(told, (all) => [...all, happening]),
    redact: (text) => text.replaceAll("hunter2", "[redacted]")
  })
  return { supervision, seen: Ref.get(seen), told: Ref.get(told) }
})

/** An agent to launch, with as much environment as the doubles look at. */
export const agent = (agentId: string): AgentLaunch => ({
  agentId,
  env: { BUZZ_ACP_CHANNELS: CHANNEL, BUZZ_PRIVATE_KEY: Redacted.make("secret-key-of-the-agent") },
  systemPrompt: `# ${agentId}\n`,
  promptPath: `${DEFAULT_LAYOUT.prompts}/${agentId}.system-prompt.md`
})
