import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { cacheStack } from "@buzz-orchestra/runtime/docker/StackCache"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"

/** A cache of its own, and which files were read through the file system that all see. */
const layer = (read: Array<string>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const cache = yield* fs.makeTempDirectoryScoped()
      const counted = FileSystem.FileSystem.of({
        ...fs,
        stream: (path, options) => {
          read.push(path)
          return fs.stream(path, options)
        }
      })
      return Layer.mergeAll(
        Layer.succeed(FileSystem.FileSystem, counted),
        ConfigProvider.layer(ConfigProvider.fromUnknown({ XDG_CACHE_HOME: cache }))
      )
    })
  ).pipe(Layer.provideMerge(NodeServices.layer))

/** A stack of two programs. The scope removes it. */
const stack = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  const programs = { "buzz-acp": `${directory}/acp`, "buzz-agent": `${directory}/agent` }
  for (const path of Object.values(programs)) yield* fs.writeFileString(path, `#!${path}`, { mode: 0o600 })
  return { programs }
})

describe("cacheStack", () => {
  it.effect("gives every trial of a stack the same directory, and reads its programs once", () => {
    const read: Array<string> = []
    return Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const files = yield* stack
      const first = yield* cacheStack(files)
      assert.deepStrictEqual(yield* cacheStack(files), first)
      assert.deepStrictEqual(read.toSorted(), Object.values(files.programs).toSorted())
      assert.deepStrictEqual((yield* fs.readDirectory(first.directory)).toSorted(), ["buzz-acp", "buzz-agent"])
      assert.strictEqual((yield* fs.stat(`${first.directory}/buzz-acp`)).mode & 0o777, 0o755)
    }).pipe(Effect.scoped, Effect.provide(layer(read)))
  })

  it.effect("makes another one of a program that was changed, and mends a copy that was", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const files = yield* stack
      const first = yield* cacheStack(files)
      yield* fs.writeFileString(`${first.directory}/buzz-acp`, "somebody else's")
      assert.deepStrictEqual(yield* cacheStack(files), first)
      assert.match(yield* fs.readFileString(`${first.directory}/buzz-acp`), /^#!.*acp$/)
      yield* fs.writeFileString(files.programs["buzz-acp"], "#!a later build")
      const second = yield* cacheStack(files)
      assert.notStrictEqual(second.directory, first.directory)
      assert.strictEqual(yield* fs.readFileString(`${second.directory}/buzz-acp`), "#!a later build")
    }).pipe(Effect.scoped, Effect.provide(layer([])))
  )

  it.effect("keeps the certificates by their content", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const files = yield* stack
      const { caBundle } = yield* cacheStack(files)
      assert.include(yield* fs.readFileString(caBundle), "-----BEGIN CERTIFICATE-----")
      const own = `${yield* fs.makeTempDirectoryScoped()}/own.pem`
      yield* fs.writeFileString(own, "own bundle")
      const cached = yield* cacheStack({ ...files, caBundle: own })
      assert.match(cached.caBundle, new RegExp(`/${Sha256.sha256("own bundle")}\\.pem$`))
      assert.strictEqual(yield* fs.readFileString(cached.caBundle), "own bundle")
      const missing = yield* Effect.flip(cacheStack({ ...files, caBundle: "/no/such/bundle.pem" }))
      assert.strictEqual(missing._tag, "PlatformError")
    }).pipe(Effect.scoped, Effect.provide(layer([])))
  )
})
