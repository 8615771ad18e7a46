/**
 * Test facility: a whole trial without an environment, a relay or a model. Everything around `Trial` is a double, everything
 * inside is real. Needs a `FileSystem` and a `Path` for the trial directory only.
 */
import type { Condition } from "@buzz-orchestra/manifest/Condition"
import {
  conditionWith,
  layerMemory as layerManifests,
  PROMPT_TEXT
} from "@buzz-orchestra/manifest/testing/TestManifest"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import { TestTrialProvisioner } from "@buzz-orchestra/relay/testing/TestTrialProvisioner"
import { TrialProvisioner } from "@buzz-orchestra/relay/TrialProvisioner"
import { Effect, FileSystem, Layer, Path } from "effect"
import { FORWARDER, REQUIRED_PROGRAMS } from "../StackFiles.ts"
import type { TrialOptions } from "../TrialOptions.ts"
import * as TrialServices from "../TrialServices.ts"
import { RecordingEnvironment, type RecordingOptions } from "./RecordingEnvironment.ts"
import { TestStack, type TestStackOptions } from "./TestStack.ts"

/** How the doubles around a trial behave. */
export interface TestTrialLayerOptions {
  readonly environment?: RecordingOptions
  readonly stack?: TestStackOptions
  /** Files that the manifest may pin, by absolute path. Default: the prompt of `testTrialOptions`. */
  readonly artifacts?: Readonly<Record<string, string>>
}

/** Directory that the artifact paths of `testTrialOptions` are relative to. */
export const ARTIFACT_ROOT = "/artifacts"

/** The provisioner's double, whose channels exist on the relay's double. */
const provisioner = Layer.effect(
  TrialProvisioner,
  Effect.gen(function* () {
    const inner = yield* TrialProvisioner
    const relay = yield* TestRelay
    return TrialProvisioner.of({
      ...inner,
      create: (request) => Effect.tap(inner.create(request), (handle) => relay.openChannel(handle))
    })
  })
).pipe(Layer.provideMerge(TestTrialProvisioner.layer))

/** `Trial`, its events, and the test's side of every double. */
export const layerWith = (options: TestTrialLayerOptions = {}) =>
  TrialServices.layerRuntime.pipe(
    Layer.provideMerge(TestStack.layerWith(options.stack)),
    Layer.provideMerge(RecordingEnvironment.layer(options.environment)),
    Layer.provideMerge(provisioner),
    Layer.provideMerge(TestRelay.layer),
    Layer.provideMerge(layerManifests(options.artifacts ?? { [`${ARTIFACT_ROOT}/prompt.md`]: PROMPT_TEXT }))
  )

/** With everything as in a trial that goes well until somebody posts `DONE:`. */
export const layer = layerWith()

/** A lead and a worker on one endpoint, with 60 seconds. */
export const testCondition = (): Condition => conditionWith({ roster: [{ id: "lead" }, { id: "worker" }] })

/** Options of a trial that goes well, in a temporary directory with a stack of empty programs. The scope removes it. */
export const testTrialOptions = Effect.fn("testTrialOptions")(function* (fields: Partial<TrialOptions> = {}) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = yield* fs.makeTempDirectoryScoped({ prefix: "buzz-trial-" })
  const stack = path.join(root, "stack")
  yield* fs.makeDirectory(stack)
  const names = [...REQUIRED_PROGRAMS, FORWARDER]
  yield* Effect.forEach(names, (name) => fs.writeFileString(path.join(stack, name), `#!/bin/sh\n# ${name}\n`))
  const options: TrialOptions = {
    condition: testCondition(),
    artifactRoot: ARTIFACT_ROOT,
    endpoints: { "test-model": { provider: "anthropic", api_key_env: "ANTHROPIC_API_KEY" } },
    apiKeys: { "test-model": undefined },
    instruction: "write hello.txt",
    runId: "run",
    trialId: "11111111-2222-4333-8444-555555555555",
    relayUrl: "ws://localhost:3600",
    stack: {
      programs: Object.fromEntries(REQUIRED_PROGRAMS.map((name) => [name, path.join(stack, name)])),
      forwarder: path.join(stack, FORWARDER)
    },
    directory: path.join(root, "trial"),
    ...fields
  }
  return options
})
