/** A whole trial in a container without network: installed by a mount, joined to the relay by the bridge, swept, gone. */
import { conditionWith } from "@buzz-orchestra/manifest/testing/TestManifest"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { ContainerEngine } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import { probeRelay } from "@buzz-orchestra/runtime/RelayProbe"
import { fromDirectory } from "@buzz-orchestra/runtime/StackFiles"
import { Trial } from "@buzz-orchestra/runtime/Trial"
import * as TrialServices from "@buzz-orchestra/runtime/TrialServices"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { fileURLToPath } from "node:url"
import { inside, leadSays, processesWith, realTrialOptions, realWorldIn } from "../support/realTrial.ts"
import { awaitEvent } from "../support/trial.ts"
import { canMake } from "./images/TestImages.ts"
import { containerTests } from "./support/containerTests.ts"
import { engineLayer, environmentOf } from "./support/engine.ts"

const STACK = fileURLToPath(new URL("../fixtures/stack", import.meta.url))

const canBridge = process.getuid?.() === 0

/** Its stack is mounted, as a command line has it. */
const environment = Layer.unwrap(Effect.map(fromDirectory(STACK), (stack) => environmentOf("bash", { stack })))

const layer = TrialServices.layerRuntime.pipe(
  Layer.provideMerge(realWorldIn(environment.pipe(Layer.provideMerge(engineLayer)))),
  Layer.provideMerge(engineLayer)
)

containerTests("a trial in a container", () => {
  it.live.skipIf(!canMake.bash || !canBridge)(
    "ends when the lead posts DONE:, with nothing left alive",
    () =>
      Effect.gen(function* () {
        const engine = yield* ContainerEngine
        const { url } = yield* EmbeddedRelay
        const trial = yield* Trial
        const before = yield* engine.calls
        const options = yield* realTrialOptions({
          condition: conditionWith({ roster: [{ id: "lead" }, { id: "worker", count: 2 }] }),
          agentUsers: "own"
        })
        const fiber = yield* Effect.forkScoped(trial.run(options))
        yield* awaitEvent(({ _tag }) => _tag === "Waiting")
        assert.strictEqual((yield* processesWith("/bin/sh /opt/buzz/bin/buzz-acp")).length, 3)
        assert.deepStrictEqual(yield* probeRelay(url), { _tag: "RelayAnswered", handshake: true })
        yield* leadSays("DONE: nothing was done")
        const { outcome, summary } = yield* Fiber.join(fiber)
        assert.strictEqual(outcome, "done")
        assert.deepStrictEqual(summary.sweep, { survivors: [], spared: [] })
        assert.deepStrictEqual(summary.warnings, [])
        assert.deepStrictEqual(summary.agent_users, {
          asked: "own",
          held: "own",
          reason: null,
          uids: { "lead-1": 61_001, "worker-1": 61_002, "worker-2": 61_003 }
        })
        assert.match(yield* inside("ls -ln /opt/buzz/logs/worker-2.stdout.log"), /^-rw------- 1 0 +0 /)
        assert.strictEqual(summary.trust_store, "seeded")
        assert.deepStrictEqual(yield* processesWith("/opt/buzz/bin"), [])
        assert.strictEqual((yield* inside("touch /opt/buzz/bin/x 2>/dev/null || echo mounted")).trim(), "mounted")
        assert.include(
          summary.phases.map(({ phase }) => phase),
          "forward"
        )
        const { facts } = yield* EnvironmentService
        assert.strictEqual(facts.container?.applied.network, "none")
        // Shells, watch and one upload at most: never a call per agent, per look or per second.
        assert.isBelow((yield* engine.calls) - before, 25)
      }).pipe(Effect.scoped, Effect.timeout("30 seconds"), Effect.provide(layer)),
    60_000
  )
})
