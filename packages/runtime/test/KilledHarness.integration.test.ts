/**
 * A harness that is really killed, at any instant: what its trials left on the disk is completed by `finish`, and `verify` finds
 * nothing wrong with it.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import { EVENTS, MANIFEST, RESULT, SUMMARY } from "@buzz-orchestra/runtime/BundleFiles"
import * as BundleFinish from "@buzz-orchestra/runtime/BundleFinish"
import * as BundleVerification from "@buzz-orchestra/runtime/BundleVerification"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import { PHASES } from "@buzz-orchestra/runtime/TrialEvent"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Layer } from "effect"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Cases from "./matrix/support/Cases.ts"
import { kill, SECRETS } from "./support/killed.ts"

/** Trials that a harness has at a time: so many are killed with it. To start one takes the most time, so without a soak it is one. */
const LANES = Cases.SOAKING ? 10 : 20

/** A trial takes about 150 steps, and the next one follows. Without a soak the slower ones do not come far. */
const STEPS = LANES * (Cases.SOAKING ? 160 : 40)

/** By then most trials have begun. */
const FIRST_STEPS = LANES * 12

const READING = ManifestService.layer.pipe(Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)))
const REDACTOR = Redaction.make(SECRETS)

/** The condition of these trials has no output to look at. */
const COME_TO = PHASES.filter((phase) => phase !== "verify-output")

/** Of them, so many are met at least; trials of one instant may well be in few. */
const PHASES_MET = Cases.SOAKING ? 9 : 1

/** Trials by how far they had come: `complete`, the phase in which they were killed, or `not begun`. */
const seen = new Map<string, number>()

const scratch = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(join(tmpdir(), "buzz-killed-"))),
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
)

/** Every file below a directory that was written to its end, by name. */
const filesOf = (directory: string): ReadonlyMap<string, string> =>
  new Map(
    fs
      .readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".unfinished"))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(directory.length + 1), fs.readFileSync(path, "latin1")])
  )

/** All that was there is there as it was, but for what may end a torn file of events. */
const isKept = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) => {
  for (const [name, text] of before) {
    const kept = name === EVENTS ? text.slice(0, text.lastIndexOf("\n") + 1) : text
    assert.strictEqual(after.get(name), kept, name)
  }
}

/** Completes what a trial left; how far it had come. */
const completed = Effect.fnUntraced(function* (directory: string) {
  const before = filesOf(directory)
  if (!before.has(MANIFEST)) {
    // Nothing that tells of a trial was written yet.
    assert.strictEqual((yield* Effect.flip(BundleFinish.finish(directory, REDACTOR)))._tag, "BundleUnreadable")
    return "not begun"
  }
  const { summary, written } = yield* BundleFinish.finish(directory, REDACTOR)
  const after = filesOf(directory)
  isKept(before, after)
  assert.deepStrictEqual([...after.keys()].filter((name) => !before.has(name)).toSorted(), written)
  const { problems, secrets } = yield* BundleVerification.verify(directory, REDACTOR)
  assert.deepStrictEqual({ problems, secrets }, { problems: [], secrets: [] })
  assert.deepStrictEqual((yield* BundleFinish.finish(directory, REDACTOR)).written, [])
  assert.deepStrictEqual(filesOf(directory), after)
  assert.strictEqual(summary.finished_later, !before.has(SUMMARY))
  if (before.has(SUMMARY)) return before.has(RESULT) ? "complete" : "without its result"
  assert.isFalse(before.has(RESULT))
  if (summary.error?.reason !== BundleFinish.HARNESS_KILLED) assert.isNotNull(summary.outcome)
  return summary.error?.phase ?? `after ${summary.phases.at(-1)?.phase}`
})

describe("a harness that is killed at any instant", () => {
  // In a soak every fifth trial has ended by then, or not begun: so about 200 have begun and not ended.
  const { runs: kills = 0, ...options } = Cases.options(20, 250)

  it.live.prop(
    "leaves bundles that finish completes, keeping what is there, and verify finds nothing wrong with",
    [Cases.upTo(1_000_000), Arbitrary.map(Cases.upTo(STEPS), (steps) => FIRST_STEPS + steps)],
    ([seed, steps]) =>
      Effect.gen(function* () {
        const root = yield* scratch
        const directory = join(root, "trials")
        fs.mkdirSync(directory)
        const { ended, logged } = yield* kill({ directory, lanes: LANES, seed }, steps)
        assert.deepStrictEqual({ ended, logged }, { ended: "SIGKILL", logged: "" })
        for (const name of fs.readdirSync(directory)) {
          const instant = yield* completed(join(directory, name))
          seen.set(instant, (seen.get(instant) ?? 0) + 1)
        }
      }).pipe(Effect.scoped, Effect.provide(READING)),
    { arbitrary: { ...options, runs: Math.ceil(kills / LANES), maxShrinks: 3 }, timeout: Cases.timeout(60_000) }
  )

  it("is met in more phases, the more are killed", () => {
    assert.isAtLeast(COME_TO.filter((phase) => seen.has(phase)).length, PHASES_MET)
  })
})
