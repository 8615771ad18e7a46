import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as LogCapture from "@buzz-orchestra/runtime/LogCapture"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import type { WatchEvent } from "@buzz-orchestra/runtime/WatchEvent"
import { Arbitrary, Effect, FileSystem, Redacted, Ref, Schema } from "effect"
import { assert, layer } from "@effect/vitest"

const SECRET = "5e4ec0de5e4ec0de5e4ec0de5e4ec0de5e4ec0de5e4ec0de5e4ec0de5e4ec0de"

const openTemporary = Effect.fnUntraced(function* (at?: (name: string) => string) {
  const fs = yield* FileSystem.FileSystem
  const root = yield* fs.makeTempDirectoryScoped()
  const warnings = yield* Ref.make<ReadonlyArray<string>>([])
  const capture = yield* LogCapture.open({
    at: at ?? ((name) => `${root}/${name}`),
    redactor: Redaction.make([Redacted.make(SECRET)]),
    warn: (detail) => Ref.update(warnings, (all) => [...all, detail])
  })
  return { capture, root, warnings: Ref.get(warnings) }
})

const logBytes = (file: string, offset: number, content: string | Uint8Array): WatchEvent => ({
  _tag: "LogBytes",
  file,
  offset,
  bytes: typeof content === "string" ? new TextEncoder().encode(content) : content
})

layer(NodeFileSystem.layer)("LogCapture", (it) => {
  it.effect("writes each log as it comes, under its own name", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { capture, root } = yield* openTemporary()
      yield* capture.write(logBytes("lead-1.stdout.log", 0, "one\n"))
      yield* capture.write(logBytes("lead-1.stderr.log", 0, "err\n"))
      yield* capture.write(logBytes("lead-1.stdout.log", 4, "two\n"))
      assert.strictEqual(yield* fs.readFileString(`${root}/lead-1.stdout.log`), "one\ntwo\n")
      assert.strictEqual(yield* fs.readFileString(`${root}/lead-1.stderr.log`), "err\n")
      assert.deepStrictEqual(
        [...(yield* capture.received)],
        [
          ["lead-1.stdout.log", 8],
          ["lead-1.stderr.log", 4]
        ]
      )
    })
  )

  it.effect("writes a last line without a newline when it finishes", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { capture, root } = yield* openTemporary()
      yield* capture.write(logBytes("a.stdout.log", 0, "panicked"))
      yield* capture.finish
      yield* capture.finish
      assert.strictEqual(yield* fs.readFileString(`${root}/a.stdout.log`), "panicked")
    })
  )

  it.effect.prop(
    "takes a secret out however it was cut into pieces",
    [Arbitrary.schema(Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200 }))))],
    ([cuts]) =>
      Effect.scoped(
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const { capture, root } = yield* openTemporary()
          const text = `before\nBUZZ_PRIVATE_KEY=${SECRET} after\nlast ${SECRET}`
          let from = 0
          for (const to of [...cuts.map((cut) => Math.min(cut, text.length)), text.length].toSorted((a, b) => a - b)) {
            yield* capture.write(logBytes("a.stdout.log", from, text.slice(from, to)))
            from = to
          }
          yield* capture.finish
          const written = yield* fs.readFileString(`${root}/a.stdout.log`)
          assert.strictEqual(written, text.replaceAll(SECRET, Redaction.REDACTED))
        })
      ),
    { arbitrary: { runs: 40 } }
  )

  it.effect("keeps bytes that are no text", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { capture, root } = yield* openTemporary()
      const bytes = Uint8Array.from({ length: 20_000 }, (_, index) => index % 256)
      yield* capture.write(logBytes("a.stdout.log", 0, bytes))
      yield* capture.finish
      assert.deepStrictEqual(yield* fs.readFile(`${root}/a.stdout.log`), bytes)
    })
  )

  it.effect("says so when bytes are missing and when a log was cut", () =>
    Effect.gen(function* () {
      const { capture, warnings } = yield* openTemporary()
      yield* capture.write(logBytes("a.stdout.log", 5, "late\n"))
      yield* capture.write(logBytes("a.stdout.log", 0, "anew\n"))
      assert.deepStrictEqual(yield* warnings, [
        "the log a.stdout.log lacks 5 bytes at 0",
        "the log a.stdout.log was cut from 10 to 0 bytes in the environment"
      ])
    })
  )

  it.effect("warns once about a file that cannot be written, and goes on with the others", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const elsewhere = yield* fs.makeTempDirectoryScoped()
      const { capture, warnings } = yield* openTemporary((name) =>
        name.startsWith("bad") ? `${elsewhere}/missing/${name}` : `${elsewhere}/${name}`
      )
      yield* capture.write(logBytes("bad.stdout.log", 0, "one\n"))
      yield* capture.write(logBytes("bad.stdout.log", 4, "two\n"))
      yield* capture.write(logBytes("good.stdout.log", 0, "one\n"))
      yield* capture.finish
      assert.strictEqual((yield* warnings).length, 1)
      assert.match((yield* warnings)[0] ?? "", /bad\.stdout\.log/)
      assert.strictEqual(yield* fs.readFileString(`${elsewhere}/good.stdout.log`), "one\n")
    })
  )
})
