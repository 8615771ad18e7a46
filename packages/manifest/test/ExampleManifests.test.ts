/** Every manifest that the project ships, on the files as they lie in the repository. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path } from "effect"
import { ManifestService } from "../src/ManifestService.ts"

/** The conditions of all examples, each with its directory. */
const examples = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const manifests = yield* ManifestService
  const root = yield* path.fromFileUrl(new URL("../../../examples/", import.meta.url))
  const directories = (yield* fs.readDirectory(root)).map((name) => path.join(root, name))
  const shipped = yield* Effect.filter(directories, (directory) => fs.exists(path.join(directory, "manifest.yaml")))
  return yield* Effect.forEach(shipped, (directory) =>
    Effect.map(manifests.load(path.join(directory, "manifest.yaml")), (condition) => ({ directory, condition }))
  )
})

layer(ManifestService.layer.pipe(Layer.provideMerge(NodeServices.layer)))("the example manifests", (it) => {
  it.effect("load without a warning, and their pinned files are what they pin", () =>
    Effect.gen(function* () {
      const manifests = yield* ManifestService
      const all = yield* examples
      assert.isAbove(all.length, 0)
      for (const { condition, directory } of all) {
        assert.deepStrictEqual(condition.warnings, [], directory)
        const { roster } = condition.manifest
        const pinned = roster.flatMap(({ persona, prompt, skills }) => [
          prompt,
          ...skills,
          ...(persona === null ? [] : [persona])
        ])
        yield* Effect.forEach(pinned, (ref) => manifests.verifyArtifact(directory, ref), { discard: true })
      }
    })
  )

  it.effect("have an endpoints file for exactly their roster", () =>
    Effect.gen(function* () {
      const path = yield* Path.Path
      const manifests = yield* ManifestService
      for (const { condition, directory } of yield* examples) {
        const config = yield* manifests.loadEndpoints(path.join(directory, "endpoints.json"), condition.manifest)
        assert.isAbove(Object.keys(config).length, 0, directory)
      }
    })
  )

  it.effect("pin an effort for every seat or for none", () =>
    Effect.gen(function* () {
      for (const { condition, directory } of yield* examples) {
        const pinned = condition.manifest.roster.map(({ generation }) => generation.thinking_effort !== null)
        assert.strictEqual(new Set(pinned).size, 1, directory)
      }
    })
  )
})
