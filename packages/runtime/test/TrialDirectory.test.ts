import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import {
  ARTIFACTS,
  COLLECTED,
  EXCEPTION,
  phaseLog,
  RESULT,
  SUMMARY,
  TRAJECTORY
} from "@buzz-orchestra/runtime/BundleFiles"
import * as TrialDirectory from "@buzz-orchestra/runtime/TrialDirectory"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"

const openTemporary = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const root = yield* fs.makeTempDirectoryScoped()
  return yield* TrialDirectory.open(`${root}/runs/one`)
})

layer(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer))("TrialDirectory", (it) => {
  it.effect("is made with its parents, and opened again as it is", () =>
    Effect.gen(function* () {
      const directory = yield* openTemporary
      yield* directory.write("a.txt", "a")
      const again = yield* TrialDirectory.open(directory.path)
      assert.deepStrictEqual(yield* again.files, ["a.txt"])
    })
  )

  it.effect("writes a file whole, with its mode, over one of another mode", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* openTemporary
      yield* directory.write("prompt.md", "old", { mode: 0o644 })
      yield* directory.write("prompt.md", "new", { mode: 0o600 })
      assert.strictEqual(yield* fs.readFileString(directory.at("prompt.md")), "new")
      assert.strictEqual((yield* fs.stat(directory.at("prompt.md"))).mode & 0o777, 0o600)
    })
  )

  it.effect("leaves the old file in place when the new one cannot be written", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* openTemporary
      yield* directory.write("summary.json", "old")
      // A directory in the place of the unfinished file makes writing it fail.
      yield* fs.makeDirectory(directory.at("summary.json.unfinished"))
      const result = yield* Effect.result(directory.write("summary.json", "new"))
      assert.strictEqual(result._tag, "Failure")
      assert.strictEqual(yield* fs.readFileString(directory.at("summary.json")), "old")
    })
  )

  it.effect("lists files only, sorted, without unfinished ones", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* openTemporary
      yield* fs.makeDirectory(directory.at("logs"))
      yield* Effect.forEach(["b", "logs/c", "a", "d.unfinished"], (name) =>
        fs.writeFileString(directory.at(name), name)
      )
      assert.deepStrictEqual(yield* directory.files, ["a", "b", "logs/c"])
    })
  )

  it.effect("writes JSON that ends with a newline", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* openTemporary
      yield* directory.writeJson("a.json", { b: [1] })
      assert.strictEqual(yield* fs.readFileString(directory.at("a.json")), '{\n  "b": [\n    1\n  ]\n}\n')
    })
  )

  it.effect("refuses a number that is none, and says which", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* openTemporary
      const error = yield* Effect.flip(directory.writeJson("a.json", { totals: [{ cost: Number.NaN }] }))
      assert.include(error.message, "totals.0.cost of a.json")
      assert.isFalse(yield* fs.exists(directory.at("a.json")))
    })
  )

  it.effect("adds to a file what is told as it happens", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* openTemporary
      yield* directory.append("events.ndjson", "one\n")
      yield* directory.append("events.ndjson", "two\n")
      assert.strictEqual(yield* fs.readFileString(directory.at("events.ndjson")), "one\ntwo\n")
      yield* directory.append("events.ndjson", "new\n", { anew: true })
      assert.strictEqual(yield* fs.readFileString(directory.at("events.ndjson")), "new\n")
    })
  )

  it.effect("is cleared of what an earlier trial wrote late, and keeps the rest", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* openTemporary
      yield* directory.makeFolders
      const own = [SUMMARY, TRAJECTORY, phaseLog("observe"), `${COLLECTED}/old.txt`, ARTIFACTS, RESULT, EXCEPTION]
      const names = [...own, "a.json.unfinished", "notes.txt"]
      yield* Effect.forEach(names, (name) => fs.writeFileString(directory.at(name), name))
      yield* directory.clear
      assert.deepStrictEqual(yield* directory.files, ["notes.txt"])
      assert.deepStrictEqual(yield* directory.unfinished, [])
    })
  )
})
