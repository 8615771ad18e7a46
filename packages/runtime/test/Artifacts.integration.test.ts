// @module-tag thorough
/** Artifacts as agents may leave them in a sandbox: whatever they are, what is kept is bytes of that folder. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { COLLECTED } from "@buzz-orchestra/runtime/BundleFiles"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import * as TrialDirectory from "@buzz-orchestra/runtime/TrialDirectory"
import { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import * as TrialRecord from "@buzz-orchestra/runtime/TrialRecord"
import { assert, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { collectArtifacts } from "../src/internal/collectArtifacts.ts"
import { output } from "./support/environment.ts"

const SECRET = "a-secret-of-the-trial"

const LIMITS = { maxBytes: 10_000, maxFiles: 30 }

/** Collects what a script leaves in the sandbox's folder; what was kept, by name, and what is told. */
const collected = Effect.fnUntraced(function* (script: string) {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* TrialDirectory.open(`${yield* fs.makeTempDirectoryScoped()}/trial`)
  const record = yield* TrialRecord.make({ runId: "run", trialId: "trial" })
  yield* output(`rm -rf /logs/artifacts && mkdir -p /logs/artifacts && cd /logs/artifacts && { ${script}; }`)
  yield* collectArtifacts({ directory, record }, Redaction.make([Redacted.make(SECRET)]), LIMITS)
  const files = new Map<string, string>()
  for (const file of yield* directory.files)
    files.set(file.slice(COLLECTED.length + 1), yield* fs.readFileString(directory.at(file)))
  const { artifacts, warnings } = yield* record.facts
  return { files, status: artifacts, warnings }
})

it.live("links are files of the folder or nothing, and what does not fit is left", () =>
  Effect.gen(function* () {
    const links = yield* collected(
      `mkdir -p in/deep; echo one >in/deep/one; ln -s deep/one in/link; ln -s /etc/passwd out; ln -s nowhere broken; ` +
        // Each of these leads one step further up than it says.
        `ln -s . here; ln -s here/here/../../../../../../etc/passwd climbs; ` +
        `echo long >$(printf %0250d 7); mkfifo fifo; printf 'x ${SECRET} y' >key; head -c 300 /dev/zero >zeros; printf ${SECRET} >>zeros`
    )
    assert.deepStrictEqual(
      [...links.files].filter(([name]) => name !== "zeros"),
      [
        ["in/deep/one", "one\n"],
        ["in/link", "one\n"],
        ["key", "x [redacted] y"]
      ]
    )
    assert.strictEqual(links.files.get("zeros"), `${"\0".repeat(300)}[redacted]`)
    assert.strictEqual(links.status, "failed")
    assert.strictEqual(links.warnings[0], "secrets were taken out of artifacts: key, zeros")
    assert.match(
      links.warnings[1] ?? "",
      /^artifacts that were not collected: 0+7, broken, climbs, fifo, here and 1 more \(.+\)$/
    )
    assert.lengthOf(links.warnings, 2)

    const large = yield* collected(
      `head -c 6000 /dev/zero >a; ln -s a b; head -c 10001 /dev/zero >large; echo small >small`
    )
    assert.deepStrictEqual([...large.files.keys()], ["a", "small"])
    assert.deepStrictEqual([large.status, large.warnings], ["failed", ["artifacts that were not collected: b, large"]])

    const nothing = yield* collected("mkdir -p empty/folders")
    assert.deepStrictEqual([nothing.status, nothing.warnings, [...nothing.files]], ["empty", [], []])
  }).pipe(
    Effect.scoped,
    Effect.provide(
      Layer.mergeAll(LocalEnvironment.layer(), TrialEvents.layer).pipe(Layer.provideMerge(NodeServices.layer))
    )
  )
)
