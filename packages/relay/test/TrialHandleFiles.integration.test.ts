import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Redacted, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { testIdentity } from "../src/testing/TestIdentity.ts"
import { testTrialHandle } from "../src/testing/TestTrialHandle.ts"
import * as Identity from "../src/Identity.ts"
import { pure } from "../src/Schnorr.ts"
import * as TrialHandleFiles from "../src/TrialHandleFiles.ts"
import { TrialHandleStore } from "../src/TrialHandleStore.ts"

const key = Redacted.make("0f".repeat(32))
const attested = Identity.attested(pure, testIdentity(7), testIdentity(9))
const handle = testTrialHandle({
  trialId: "../trial/../1",
  userRelayUrl: "http://127.0.0.1:3600",
  user: { name: "Ada", identity: attested },
  directory: [{ entry: { name: "Bot", role: "bot", about: "helps" }, identity: testIdentity(8) }]
})

const inDirectory = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const directory = `${yield* fs.makeTempDirectoryScoped()}/handles`
  const store = (note?: string, ownKey = key) =>
    Effect.provide(
      TrialHandleStore,
      TrialHandleFiles.layer({ directory, key: ownKey, ...(note === undefined ? {} : { note }) })
    )
  return { fs, directory, store }
})

const test = <A, E>(effect: Effect.Effect<A, E, NodeServices.NodeServices | SecureRandom.SecureRandom | Scope.Scope>) =>
  Effect.provide(Effect.scoped(effect), Layer.merge(NodeServices.layer, SecureRandom.layerWebCrypto))

const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, it: unknown) => (Redacted.isRedacted(it) ? Redacted.value(it) : it)))

describe("a trial saved in a file", () => {
  it.live("comes back in another process with all its keys, and is gone when it is removed", () =>
    test(
      Effect.gen(function* () {
        const { store } = yield* inDirectory
        yield* (yield* store()).put(handle)
        const later = yield* store()
        assert.deepStrictEqual(plain(yield* later.get(handle)), plain(handle))
        assert.isUndefined(yield* later.get({ ...handle, runId: "another" }))
        yield* later.remove(handle)
        yield* later.remove(handle)
        assert.isUndefined(yield* later.get(handle))
        assert.deepStrictEqual(yield* later.list, [])
      })
    )
  )

  it.live("is readable by its owner alone, holds no secret in the clear, and says whose it is", () =>
    test(
      Effect.gen(function* () {
        const { directory, fs, store } = yield* inDirectory
        yield* (yield* store("process 42")).put(handle)
        const [saved] = yield* TrialHandleFiles.facts(directory)
        assert.deepInclude(saved, { trialId: "../trial/../1", note: "process 42", channelId: handle.channelId })
        assert.strictEqual((yield* fs.stat(directory)).mode & 0o777, 0o700)
        const file = saved?.file ?? ""
        assert.isTrue(file.startsWith(`${directory}/`) && !file.slice(directory.length + 1).includes("/"))
        assert.strictEqual((yield* fs.stat(file)).mode & 0o777, 0o600)
        const text = yield* fs.readFileString(file)
        for (const { identity } of [handle.user, ...handle.credentials, ...(handle.directory ?? [])]) {
          assert.notInclude(text, Redacted.value(identity.secretKey))
          assert.include(text, identity.pubkey)
        }
        assert.lengthOf(yield* fs.readDirectory(directory), 1)
      })
    )
  )

  it.live("is refused where others can read it: HandleStoreFailed", () =>
    test(
      Effect.gen(function* () {
        const { directory, fs, store } = yield* inDirectory
        const files = yield* store()
        yield* files.put(handle)
        const [saved] = yield* TrialHandleFiles.facts(directory)
        yield* fs.chmod(saved?.file ?? "", 0o644)
        const readable = yield* Effect.flip(files.get(handle))
        assert.strictEqual(readable._tag, "HandleStoreFailed")
        assert.include(readable.message, "chmod 600")
        yield* fs.chmod(saved?.file ?? "", 0o600)
        yield* fs.chmod(directory, 0o755)
        for (const attempt of [files.put(handle), files.get(handle), files.list]) {
          assert.include(
            (yield* Effect.flip<unknown, { readonly message: string }, never>(attempt)).message,
            "chmod 700"
          )
        }
      })
    )
  )

  it.live("is of no use with another key, nor in another trial's place", () =>
    test(
      Effect.gen(function* () {
        const { directory, fs, store } = yield* inDirectory
        const files = yield* store()
        const other = { ...handle, trialId: "other" }
        yield* files.put(handle)
        const [saved] = yield* TrialHandleFiles.facts(directory)
        yield* files.put(other)
        const stranger = yield* store(undefined, Redacted.make("f0".repeat(32)))
        assert.include((yield* Effect.flip(stranger.get(handle))).message, "of another key")
        const file = (yield* TrialHandleFiles.facts(directory)).find(({ trialId }) => trialId === "other")?.file ?? ""
        yield* fs.copyFile(saved?.file ?? "", file)
        assert.include((yield* Effect.flip(files.get(other))).message, "the file was changed")
        yield* fs.writeFileString(file, "{}")
        assert.include((yield* Effect.flip(files.get(other))).message, "no saved trial")
        assert.include((yield* Effect.flip(store(undefined, Redacted.make("short")))).message, "64 hex digits")
      })
    )
  )
})
