import * as NodeServices from "@effect/platform-node/NodeServices"
import { readBuildContext } from "@buzz-orchestra/runtime/docker/BuildContext"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { thisMachine } from "../src/ThisMachine.ts"

const made = Effect.gen(function* () {
  const { directory, mounts } = yield* thisMachine
  const { bases, digest } = yield* readBuildContext(directory)
  return { bases, digest, directory, mounts }
})

describe.skipIf(process.platform !== "linux")("a container of this machine's programs", () => {
  it.live("has the same image every time, from nothing but its directory, which goes with its scope", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const [first, second] = [yield* Effect.scoped(made), yield* Effect.scoped(made)]
      assert.strictEqual(first.digest, second.digest)
      assert.notStrictEqual(first.directory, second.directory)
      assert.deepStrictEqual(first.bases, [])
      assert.isFalse(yield* fs.exists(first.directory))
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("sees the programs where they are here, read-only: links as links, directories as mounts", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { directory, mounts } = yield* thisMachine
      assert.deepInclude(mounts, { source: "/usr", target: "/usr", readOnly: true })
      assert.isTrue(mounts.every(({ readOnly, source, target }) => readOnly && source === target))
      for (const place of ["/bin", "/lib"]) {
        if (!(yield* fs.exists(place))) continue
        const link = yield* Effect.orElseSucceed(fs.readLink(place), () => undefined)
        const isMounted = mounts.some(({ target }) => target === place)
        assert.strictEqual(isMounted, link === undefined, place)
        if (link !== undefined) assert.strictEqual(yield* fs.readLink(`${directory}/root${place}`), link)
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
