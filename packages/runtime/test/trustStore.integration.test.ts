/** The system's certificates: what the scripts do in the shells that images bring, and who is asked to run them. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { EnvironmentFacts } from "@buzz-orchestra/runtime/EnvironmentService"
import { DEFAULT_LAYOUT } from "@buzz-orchestra/runtime/Layout"
import { exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import type { ContainerFacts } from "@buzz-orchestra/runtime/docker/ContainerFacts"
import { ensureTrustStore, lookScript, parseTrustStore, seedScript, SYSTEM_STORE } from "../src/internal/trustStore.ts"
import { SHELLS } from "./support/shells.ts"

describe("seedScript", () => {
  for (const { argv, isInstalled, name, options } of SHELLS) {
    it.live.skipIf(!isInstalled)(
      `${name}: fills a store that is absent or empty, and no other`,
      () =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
          const root = yield* fs.makeTempDirectoryScoped({ prefix: "it's a store " })
          const [bundle, store] = [`${root}/bundle.crt`, `${root}/ssl/certs/ca.crt`]
          yield* fs.writeFileString(bundle, "ours")
          const run = (script: string) =>
            Effect.map(spawner.string(ChildProcess.make(argv[0], [...argv.slice(1), "-c", script])), parseTrustStore)
          const seed = run(seedScript(store, bundle))
          assert.strictEqual(yield* run(lookScript(store)), "failed")
          assert.strictEqual(yield* seed, "seeded")
          assert.strictEqual(yield* fs.readFileString(store), "ours")
          assert.strictEqual(yield* run(lookScript(store)), "present")
          yield* fs.writeFileString(store, "theirs")
          assert.strictEqual(yield* seed, "present")
          assert.strictEqual(yield* fs.readFileString(store), "theirs")
          yield* fs.writeFileString(store, "")
          assert.strictEqual(yield* seed, "seeded")
          assert.deepStrictEqual(yield* fs.readDirectory(`${root}/ssl/certs`), ["ca.crt"])
          assert.strictEqual(yield* run(seedScript(`${bundle}/certs/ca.crt`, bundle)), "failed")
        }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
      options
    )
  }
})

const container = {
  id: "c",
  engine: { flavor: "docker", version: "20.10", address: "unix:///sock" },
  image: { reference: "task:1", id: "i" },
  applied: {
    limits: {},
    network: "none",
    init: false,
    user: "agent",
    readOnlyRoot: false,
    mounts: [],
    temporary: []
  }
} satisfies ContainerFacts

const recording = (facts: Partial<EnvironmentFacts>) =>
  RecordingEnvironment.layer({ facts }).pipe(Layer.provide(NodeServices.layer))

const asked = Effect.map(
  RecordingEnvironment.use(({ commands }) => commands),
  (commands) => commands.map(({ command, options }) => [options.user, command.includes("cp ")])
)

describe("ensureTrustStore", () => {
  it.effect("asks root where the container's user may not write it", () =>
    Effect.gen(function* () {
      const environment = yield* RecordingEnvironment
      yield* environment.answer((_, { user }) => exited(0, { stdout: user === "0" ? "seeded\n" : "failed\n" }))
      assert.strictEqual(yield* ensureTrustStore(DEFAULT_LAYOUT), "seeded")
      assert.deepStrictEqual(yield* asked, [
        [undefined, true],
        ["0", true]
      ])
    }).pipe(Effect.provide(recording({ container })))
  )

  it.effect("takes silence for a failure, and ends no trial with it", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* ensureTrustStore(DEFAULT_LAYOUT), "failed")
    }).pipe(Effect.provide(recording({ container })))
  )

  it.effect("only looks at what belongs to this machine", () =>
    Effect.gen(function* () {
      const environment = yield* RecordingEnvironment
      yield* environment.answer(() => exited(0, { stdout: "failed\n" }))
      assert.strictEqual(yield* ensureTrustStore(DEFAULT_LAYOUT), "failed")
      assert.deepStrictEqual(yield* asked, [[undefined, false]])
      assert.include((yield* environment.commands)[0]?.command, SYSTEM_STORE)
    }).pipe(Effect.provide(recording({})))
  )
})
