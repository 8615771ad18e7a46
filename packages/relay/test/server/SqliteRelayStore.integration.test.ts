import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path, Result } from "effect"
import { DatabaseSync } from "node:sqlite"
import { statSync } from "node:fs"
import * as Cases from "../../../runtime/test/matrix/support/Cases.ts"
import { RelayStore } from "../../src/server/RelayStore.ts"
import * as SqliteRelayStore from "../../src/server/SqliteRelayStore.ts"
import { layered, suite } from "../suites/RelayStoreSuite.ts"
import { person, sign } from "./support.ts"

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()).pipe(
  Effect.provide(NodeServices.layer),
  Effect.orDie
)
const at = (directory: string) => layered(SqliteRelayStore.layer(directory).pipe(Layer.provide(NodeServices.layer)))

suite("RelayStore over SQLite", Effect.map(temporary, at), Cases.count(15, 2000))

const stored = (content: string) => ({
  _tag: "Stored" as const,
  stored: { event: sign(person("ada"), { kind: 1, content }), channelId: undefined, thread: undefined }
})

const contents = (store: RelayStore["Service"]) =>
  Effect.map(store.load, ({ events }) => events.map(({ event }) => event.content))

it.live("is for one relay at a time, and for its owner's eyes", () =>
  Effect.gen(function* () {
    const directory = yield* temporary
    yield* at(directory)
    const refused = yield* Effect.flip(Effect.scoped(at(directory)))
    assert.strictEqual(refused.message, `the relay's data in ${directory} cannot be used (open): another relay uses it`)
    for (const name of ["", "-wal"])
      assert.strictEqual(statSync(`${directory}/${SqliteRelayStore.FILE_NAME}${name}`).mode & 0o777, 0o600)
  }).pipe(Effect.scoped)
)

it.live("has all that was committed when its process dies without a word, and nothing of what was not", () =>
  Effect.gen(function* () {
    const [living, copied] = [yield* temporary, yield* temporary]
    const store = yield* at(living)
    assert.isTrue(Result.isSuccess(store.commit([stored("one"), stored("two")])))
    // What a killed process leaves is what lies in its files at that moment.
    const fs = yield* FileSystem.FileSystem
    for (const name of yield* fs.readDirectory(living)) yield* fs.copyFile(`${living}/${name}`, `${copied}/${name}`)
    assert.deepStrictEqual(yield* contents(yield* at(copied)), ["one", "two"])
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)

it.live("keeps all or nothing of a commit, and goes on after one that failed", () =>
  Effect.gen(function* () {
    const store = yield* at(yield* temporary)
    const half = stored("half")
    // The database refuses what no caller with types can say.
    const broken = { _tag: "Owner" as const, agent: "a".repeat(64), owner: null as never }
    const failed = store.commit([half, broken])
    assert.isTrue(Result.isFailure(failed))
    assert.match(Result.isFailure(failed) ? failed.failure.message : "", /cannot be used \(write\): NOT NULL/)
    assert.isTrue(Result.isSuccess(store.commit([stored("whole")])))
    assert.deepStrictEqual(yield* contents(store), ["whole"])
  }).pipe(Effect.scoped)
)

it.live("says of a file that is none of its own what is wrong with it", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const [text, newer, damaged] = [yield* temporary, yield* temporary, yield* temporary]
    yield* fs.writeFileString(
      path.join(text, SqliteRelayStore.FILE_NAME),
      "not a database, but long enough to look like one"
    )
    const database = new DatabaseSync(path.join(newer, SqliteRelayStore.FILE_NAME))
    database.exec("PRAGMA user_version = 99")
    database.close()
    assert.match((yield* Effect.flip(Effect.scoped(at(text)))).message, /file is not a database/)
    assert.match((yield* Effect.flip(Effect.scoped(at(newer)))).message, /has version 99, this relay reads version 1/)
    yield* Effect.scoped(at(damaged))
    const inside = new DatabaseSync(path.join(damaged, SqliteRelayStore.FILE_NAME))
    inside.exec("INSERT INTO events VALUES ('x', '{}', NULL, NULL, NULL, NULL)")
    inside.close()
    const { load } = yield* at(damaged)
    assert.match((yield* Effect.flip(load)).message, /cannot be used \(read\)/)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)
