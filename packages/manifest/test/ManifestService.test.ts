import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { MAX_FILE_BYTES, ManifestService } from "../src/ManifestService.ts"
import { sha256 } from "../src/Sha256.ts"
import { conditionWith, layerMemory, manifestWith, PROMPT_TEXT } from "../src/testing/TestManifest.ts"
import { PLAIN } from "./support.ts"

const ENDPOINTS = JSON.stringify({ m: { provider: "scripted", api_key_env: "KEY" } })

const files = {
  "/trials/plain.yaml": PLAIN,
  "/trials/wrong.yaml": PLAIN.replace("count: 1", "count: 0").replace("kind: orchestrator", "kind: boss"),
  "/trials/large.yaml": `# ${"x".repeat(MAX_FILE_BYTES)}\n${PLAIN}`,
  "/trials/full.yaml": PLAIN.padEnd(MAX_FILE_BYTES, "#"),
  "/trials/endpoints.json": ENDPOINTS,
  "/trials/identity.json": ENDPOINTS.replace("}}", ',"env":{"BUZZ_PRIVATE_KEY":"x"}}}'),
  "/trials/prompt.md": PROMPT_TEXT,
  "/home/ada/mine.yaml": PLAIN
}

const PINNED = { path: "prompt.md", sha256: sha256(PROMPT_TEXT) }

layer(layerMemory(files))("ManifestService", (it) => {
  describe("load", () => {
    it.effect("reads a file and says where it was", () =>
      Effect.gen(function* () {
        const manifests = yield* ManifestService
        const condition = yield* manifests.load("/trials/../trials/plain.yaml")
        assert.strictEqual(condition.sha256, "f7f11a15e27043a0226d22dff30bea4790586dd308fd4a0431559aed5e78ee5c")
        assert.deepStrictEqual([condition.source, condition.directory], ["/trials/plain.yaml", "/trials"])
      })
    )

    it.effect("reads it as the dialect that is asked for", () =>
      Effect.gen(function* () {
        const manifests = yield* ManifestService
        const condition = yield* manifests.load("/trials/plain.yaml", { dialect: "study" })
        assert.strictEqual(condition.sha256, "3dd07b3b13899d1dba58fd2e4452f59f571c8efebbeb7d87df1852597d7cfdaf")
      })
    )

    it.effect("reads a decoded value, which lies nowhere", () =>
      Effect.gen(function* () {
        const manifests = yield* ManifestService
        const condition = yield* manifests.load(manifestWith())
        assert.strictEqual(condition.sha256, conditionWith().sha256)
        assert.notProperty(condition, "source")
      })
    )

    it.effect("expands ~ to the home directory", () =>
      Effect.gen(function* () {
        const manifests = yield* ManifestService
        const condition = yield* manifests.load("~/mine.yaml")
        assert.strictEqual(condition.source, "/home/ada/mine.yaml")
      }).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({ HOME: "/home/ada" })))
    )

    it.effect("fails with every problem, each with file, line, column, field and what to do", () =>
      Effect.gen(function* () {
        const manifests = yield* ManifestService
        const error = yield* Effect.flip(manifests.load("/trials/wrong.yaml"))
        assert.strictEqual(error.operation, "load")
        assert.strictEqual(error.source, "/trials/wrong.yaml")
        assert.deepStrictEqual(error.message.split("\n"), [
          '/trials/wrong.yaml:4:11: roster[0].kind: expected `orchestrator` or `worker`, found the text "boss"',
          "/trials/wrong.yaml:6:12: roster[0].count: expected a whole number above 0, found 0"
        ])
      })
    )

    it.effect("fails when the file cannot be read", () =>
      Effect.gen(function* () {
        const manifests = yield* ManifestService
        const error = yield* Effect.flip(manifests.load("/trials/none.yaml"))
        assert.strictEqual(error.reason._tag, "ManifestUnreadable")
        assert.strictEqual(
          error.message,
          "/trials/none.yaml: cannot be read: check that it exists and that you may read it"
        )
      })
    )

    it.effect("reads a file of the greatest size and refuses a larger one", () =>
      Effect.gen(function* () {
        const manifests = yield* ManifestService
        yield* manifests.load("/trials/full.yaml")
        const error = yield* Effect.flip(manifests.load("/trials/large.yaml"))
        assert.strictEqual(error.reason._tag, "DocumentTooLarge")
      })
    )
  })

  describe("artifacts", () => {
    it.effect("are verified and read when the digest is the pinned one", () =>
      Effect.gen(function* () {
        const manifests = yield* ManifestService
        assert.strictEqual(yield* manifests.verifyArtifact("/trials", PINNED), "/trials/prompt.md")
        assert.strictEqual(new TextDecoder().decode(yield* manifests.readArtifact("/trials", PINNED)), PROMPT_TEXT)
      })
    )

    it.effect("that differ are told with both digests", () =>
      Effect.gen(function* () {
        const manifests = yield* ManifestService
        const ref = { path: "prompt.md", sha256: "0".repeat(64) }
        for (const attempt of [
          manifests.verifyArtifact("/trials", ref),
          Effect.asVoid(manifests.readArtifact("/trials", ref))
        ]) {
          const error = yield* Effect.flip(attempt)
          assert.strictEqual(error.operation, "verify artifact")
          assert.deepInclude(error.reason, {
            _tag: "ArtifactMismatch",
            file: "/trials/prompt.md",
            expected: ref.sha256,
            actual: PINNED.sha256
          })
        }
      })
    )

    it.effect("that cannot be read are another failure", () =>
      Effect.gen(function* () {
        const manifests = yield* ManifestService
        for (const attempt of [
          manifests.verifyArtifact("/x", PINNED),
          Effect.asVoid(manifests.readArtifact("/x", PINNED))
        ]) {
          const error = yield* Effect.flip(attempt)
          assert.strictEqual(error.reason._tag, "ArtifactUnreadable")
          assert.include(error.message, "/x/prompt.md")
        }
      })
    )
  })

  it.effect("maps credentials to classes, and wraps the reason when they do not fit", () =>
    Effect.gen(function* () {
      const manifests = yield* ManifestService
      const { manifest } = conditionWith()
      const classes = yield* manifests.classesByAgentId(manifest, [{ agentId: "lead-1", kind: "orchestrator" }])
      assert.strictEqual(classes.get("lead-1"), manifest.roster[0])
      const error = yield* Effect.flip(manifests.classesByAgentId(manifest, []))
      assert.deepStrictEqual([error.operation, error.reason._tag], ["map credentials", "AgentsMissing"])
    })
  )

  it.effect("loads endpoints, alone or for a manifest", () =>
    Effect.gen(function* () {
      const manifests = yield* ManifestService
      const { manifest } = yield* manifests.load("/trials/plain.yaml")
      const config = yield* manifests.loadEndpoints("/trials/endpoints.json", manifest)
      assert.deepStrictEqual(config, JSON.parse(ENDPOINTS))
      assert.deepStrictEqual(yield* manifests.loadEndpoints(JSON.parse(ENDPOINTS)), config)
      const error = yield* Effect.flip(manifests.loadEndpoints("/trials/identity.json"))
      assert.strictEqual(error.operation, "load endpoints")
      assert.strictEqual(
        error.message,
        "/trials/identity.json:1:55: m.env: the endpoint `m` may not override an agent's identity: remove BUZZ_PRIVATE_KEY"
      )
      const other = yield* Effect.flip(manifests.loadEndpoints("/trials/endpoints.json", conditionWith().manifest))
      assert.deepStrictEqual(
        [other.reason._tag, other.others?.map(({ _tag }) => _tag)],
        ["EndpointUnknown", ["EndpointMissing"]]
      )
    })
  )

  it.effect("loads a task's fixture", () =>
    Effect.gen(function* () {
      const manifests = yield* ManifestService
      const fixture = { user_name: "Nora", observed_channels: ["a"] }
      assert.deepStrictEqual(yield* manifests.loadFixture(fixture), fixture)
      const error = yield* Effect.flip(manifests.loadFixture("/trials/endpoints.json"))
      assert.strictEqual(error.operation, "load fixture")
      assert.match(error.message, /^\/trials\/endpoints\.json:\d+:\d+: .*: unknown field: remove it$/)
    })
  )
})

describe("ManifestError", () => {
  it("spells out the first problems and counts the rest", () => {
    const roster = Array.from({ length: 15 }, (_, index) => ({ id: `c${index}`, count: 0 }))
    assert.throws(() => conditionWith({ roster }), /roster\[9\]\.count: .*\nand 5 more$/)
  })
})
