import { EnvironmentError, TransferFailed } from "@buzz-orchestra/runtime/EnvironmentError"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FileSystem, Layer, Ref } from "effect"
import * as Downloads from "../src/Downloads.ts"

/** `/app` is a folder, everything else is none. */
const environment = RecordingEnvironment.layer({
  answers: [
    (command, { env }) =>
      command.includes("BUZZ_DOWNLOAD") ? exited(env?.["BUZZ_DOWNLOAD"] === "/app" ? 0 : 1) : undefined
  ]
}).pipe(Layer.provideMerge(NodeServices.layer))

const collected = Effect.fnUntraced(function* (downloads: ReadonlyArray<Downloads.PlacedDownload>) {
  const notes = yield* Ref.make<ReadonlyArray<string>>([])
  const inside = yield* EnvironmentService
  const note = (text: string) => Ref.update(notes, (before) => [...before, text])
  const exit = yield* Effect.exit(Downloads.collect(inside, downloads)(note))
  return { exit, notes: yield* Ref.get(notes) }
})

const there = Effect.gen(function* () {
  const { writeFile } = yield* RecordingEnvironment
  yield* writeFile("/app/report.md", "north 17")
  yield* writeFile("/app/data/rows.csv", "1,2")
  return yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped())
})

describe("downloads", () => {
  it.effect("copy folders whole and files by name, from where the environment has them, and say so", () =>
    Effect.gen(function* () {
      const here = yield* there
      const { exit, notes } = yield* collected([
        { source: "/app", path: "/app", target: `${here}/app` },
        { source: "/result.md", path: "/app/report.md", target: `${here}/new/result.md` }
      ])
      assert.isTrue(Exit.isSuccess(exit))
      assert.deepStrictEqual(notes, [`/app is in ${here}/app`, `/result.md is in ${here}/new/result.md`])
      const fs = yield* FileSystem.FileSystem
      assert.strictEqual(yield* fs.readFileString(`${here}/app/data/rows.csv`), "1,2")
      assert.strictEqual(yield* fs.readFileString(`${here}/new/result.md`), "north 17")
    }).pipe(Effect.scoped, Effect.provide(environment))
  )

  it.effect("fail with the first that is not there", () =>
    Effect.gen(function* () {
      const here = yield* there
      const { exit, notes } = yield* collected([
        { source: "/nowhere", path: "/nowhere", target: `${here}/a` },
        { source: "/app", path: "/app", target: `${here}/b` }
      ])
      const error = yield* Effect.flip(exit)
      assert.instanceOf(error, EnvironmentError)
      assert.instanceOf(error.reason, TransferFailed)
      assert.deepStrictEqual(notes, [])
    }).pipe(Effect.scoped, Effect.provide(environment))
  )
})
