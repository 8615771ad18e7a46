/** The service on a real file system. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path } from "effect"
import { createHash } from "node:crypto"
import { ManifestService } from "../src/ManifestService.ts"
import { PLAIN } from "./support.ts"

layer(ManifestService.layer.pipe(Layer.provideMerge(NodeServices.layer)))("ManifestService on files", (it) => {
  it.effect("reads a manifest and verifies a file of many chunks", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const manifests = yield* ManifestService
      const directory = yield* fs.makeTempDirectoryScoped()
      const bytes = new Uint8Array(3_000_001).map((_, index) => index * 7)
      yield* fs.writeFile(path.join(directory, "large.bin"), bytes)
      yield* fs.writeFileString(path.join(directory, "manifest.yaml"), PLAIN)

      const condition = yield* manifests.load(path.join(directory, "manifest.yaml"))
      assert.strictEqual(condition.directory, directory)

      const ref = { path: "large.bin", sha256: createHash("sha256").update(bytes).digest("hex") }
      assert.strictEqual(yield* manifests.verifyArtifact(directory, ref), path.join(directory, "large.bin"))
      assert.strictEqual((yield* manifests.readArtifact(directory, ref)).length, bytes.length)

      yield* fs.writeFile(path.join(directory, "large.bin"), bytes.subarray(1))
      const error = yield* Effect.flip(manifests.verifyArtifact(directory, ref))
      assert.strictEqual(error.reason._tag, "ArtifactMismatch")
    })
  )

  it.effect("cannot read a directory, as manifest or as artifact", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const manifests = yield* ManifestService
      const directory = yield* fs.makeTempDirectoryScoped()
      const load = yield* Effect.flip(manifests.load(directory))
      assert.strictEqual(load.reason._tag, "ManifestUnreadable")
      const verify = yield* Effect.flip(manifests.verifyArtifact(directory, { path: ".", sha256: "0".repeat(64) }))
      assert.strictEqual(verify.reason._tag, "ArtifactUnreadable")
    })
  )

  it.effect("does not read a device without end to its end", () =>
    Effect.gen(function* () {
      const manifests = yield* ManifestService
      const error = yield* Effect.flip(manifests.load("/dev/zero"))
      assert.strictEqual(error.reason._tag, "DocumentTooLarge")
    })
  )
})
