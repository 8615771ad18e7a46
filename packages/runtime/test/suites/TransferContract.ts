/** What holds for files in every environment, the double included: it runs no commands. */
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Redacted } from "effect"
import { ALL_BYTES, encode } from "../support/bytes.ts"
import type { EnvironmentIt } from "../support/environment.ts"

export const hostFolder = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "buzz transfer " }))

/** `place` is a directory inside that need not exist. */
export const transferContract = (it: EnvironmentIt, place: string): void => {
  describe("transfer contract", () => {
    it.effect("moves bytes, secrets and files there and back unchanged", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const fs = yield* FileSystem.FileSystem
        const host = yield* hostFolder
        yield* environment.upload({ content: ALL_BYTES }, `${place}/a/b/bytes`, { mode: 0o640 })
        yield* environment.upload({ content: Redacted.make("secret") }, `${place}/secret`, { mode: 0o600 })
        yield* environment.upload({ path: `${import.meta.dirname}/TransferContract.ts` }, `${place}/file`)
        yield* environment.download(`${place}/a/b/bytes`, `${host}/deep/bytes`)
        yield* environment.download(`${place}/secret`, `${host}/secret`)
        yield* environment.download(`${place}/file`, `${host}/file`)
        assert.deepStrictEqual(yield* fs.readFile(`${host}/deep/bytes`), ALL_BYTES)
        assert.strictEqual(yield* fs.readFileString(`${host}/secret`), "secret")
        assert.include(yield* fs.readFileString(`${host}/file`), "moves bytes, secrets and files")
      })
    )

    it.effect("moves folders there and back unchanged", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const fs = yield* FileSystem.FileSystem
        const host = yield* hostFolder
        yield* fs.makeDirectory(`${host}/in/deep`, { recursive: true })
        yield* fs.writeFile(`${host}/in/deep/bytes`, ALL_BYTES)
        yield* fs.writeFileString(`${host}/in/empty`, "")
        yield* environment.uploadDirectory(`${host}/in`, `${place}/folder`)
        assert.deepStrictEqual(yield* environment.downloadDirectory(`${place}/folder`, `${host}/out`), [])
        assert.deepStrictEqual(yield* fs.readFile(`${host}/out/deep/bytes`), ALL_BYTES)
        assert.strictEqual(yield* fs.readFileString(`${host}/out/empty`), "")
      })
    )

    it.effect("says which file did not get in or out, and leaves nothing of it", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        const fs = yield* FileSystem.FileSystem
        const host = yield* hostFolder
        yield* environment.upload({ content: encode("x") }, `${place}/there`)
        const errors = yield* Effect.all([
          Effect.flip(environment.upload({ path: `${host}/missing` }, `${place}/x`)),
          Effect.flip(environment.download(`${place}/missing`, `${host}/missing`)),
          Effect.flip(environment.uploadDirectory(`${host}/missing`, `${place}/y`))
        ])
        assert.deepStrictEqual(
          errors.map(({ reason }) => reason._tag === "TransferFailed" && [reason.direction, reason.path]),
          [
            ["upload", `${place}/x`],
            ["download", `${place}/missing`],
            ["upload", `${place}/y`]
          ]
        )
        assert.isFalse(yield* fs.exists(`${host}/missing`))
      })
    )
  })
}
