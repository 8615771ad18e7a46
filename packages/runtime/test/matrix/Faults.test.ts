/**
 * Trials over doubles that go wrong in every way: whatever fails, hangs, dies or is interrupted, wherever, what must hold of
 * every trial holds.
 */
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import * as BundleVerification from "@buzz-orchestra/runtime/BundleVerification"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path } from "effect"
import * as Cases from "./support/Cases.ts"
import { FATES, type Fate, faultScripts, scriptWith, STEPS, STORIES, type Step, WAYS } from "./support/FaultScript.ts"
import { type Case, DIRECTORY, runCase } from "./support/SimulatedTrial.ts"
import { broken, story } from "./support/TrialLaws.ts"

/** What is wrong with a case: its broken laws and how it went, or nothing. */
const wrong = (it: Case): string => {
  const laws = broken(it)
  return laws.length === 0 ? "" : [...laws, "", `script: ${JSON.stringify(it.script)}`, story(it)].join("\n")
}

/** A team in which the step is come to. */
const FATES_FOR: Partial<Record<Step, ReadonlyArray<Fate>>> = {
  "ask how it ended": ["works", "dies at ready"],
  "send KILL": ["works", "resists TERM"],
  "stop a program": ["works", "resists KILL"]
}

/** A disk that fails leaves a bundle that cannot be whole. */
const DISK: ReadonlySet<Step> = new Set<Step>(["write a document", "append to a log", "read a file"])

/** What is wrong with the bundle of a case, as `bundle verify` would say it. */
const problemsOf = ({ files }: Case): ReadonlyArray<string> => {
  const verifying = BundleVerification.verify(DIRECTORY, Redaction.make([])).pipe(
    Effect.provide(ManifestService.layer),
    Effect.provide(Layer.mergeAll(Layer.sync(FileSystem.FileSystem, files.service), Path.layer))
  )
  const { problems, secrets } = Effect.runSync(verifying)
  // The doubles give their messages ids of their own.
  return [...problems.filter(({ problem }) => !problem.includes("its id")), ...secrets].map((it) => JSON.stringify(it))
}

describe("a trial", () => {
  for (const step of STEPS)
    it(`keeps the laws whatever becomes of the call: ${step}`, { tags: ["thorough"] }, () => {
      for (const way of WAYS)
        for (const occurrence of [0, 1]) {
          const fates = FATES_FOR[step] ?? ["works", "works"]
          const it = runCase(scriptWith({ fates, faults: [{ step, occurrence, way }] }))
          assert.strictEqual(wrong(it), "")
          if (occurrence === 0) assert.strictEqual(it.points.fired[0]?.step, step, "the trial never came to it")
        }
    })

  for (const told of STORIES)
    it(`keeps them whatever becomes of an agent of a team whose story is: ${told}`, () => {
      for (const fate of FATES)
        for (const fates of [[fate], [fate, "works"], ["works", fate, "works"]] as const)
          assert.strictEqual(wrong(runCase(scriptWith({ story: told, fates }))), "")
    })

  it("leaves a bundle that verifies, whatever failed and however the team's story ended", () => {
    const scripts = [
      ...STEPS.filter((step) => !DISK.has(step)).map((step) =>
        scriptWith({ faults: [{ step, occurrence: 0, way: "fails" }] })
      ),
      ...STORIES.map((story) => scriptWith({ story })),
      ...FATES.map((fate) => scriptWith({ fates: [fate, "works"] })),
      scriptWith({ interruptAt: 1 })
    ]
    for (const script of scripts) {
      const it = runCase(script)
      assert.deepStrictEqual({ script, problems: problemsOf(it) }, { script, problems: [] })
    }
  })

  it.prop(
    "keeps them whatever happens together",
    [faultScripts],
    ([script]) => assert.strictEqual(wrong(runCase(script)), ""),
    { timeout: Cases.timeout(120_000), arbitrary: Cases.options(1000, 50_000) }
  )

  it("keeps what failed first when an interruption comes while it still waits for others", () => {
    const it = runCase(
      scriptWith({
        forwarder: false,
        faults: [
          { step: "launch", occurrence: 0, way: "hangs" },
          { step: "launch", occurrence: 1, way: "fails" }
        ],
        interruptAt: 1
      })
    )
    assert.strictEqual(wrong(it), "")
    assert.isTrue(it.events.some((event) => event._tag === "Warned" && event.detail.includes("fault launch 1")))
  })

  it("is the same to the last step when it is run again", () => {
    const script = scriptWith({ fates: ["works", "dies in a turn", "resists TERM"], seed: 4711 })
    assert.deepStrictEqual(runCase(script).points.calls, runCase(script).points.calls)
  })
})

describe("the laws", () => {
  const whole = runCase(scriptWith())
  const tampered = (change: Partial<Case>) => broken({ ...whole, ...change }).join("\n")

  it("do not hold when something is left", () => {
    assert.include(tampered({ remains: { fibers: 1, sleeps: 0 } }), "1 fibers are left")
    assert.include(tampered({ remains: { fibers: 0, sleeps: 2 } }), "2 timers are left")
    assert.include(tampered({ openFilesAtEnd: ["/work/trial/a.log"] }), "a.log")
  })

  it("do not hold when what was taken is given back in another order, or not at all", () => {
    assert.include(tampered({ heldAtEnd: whole.heldAtEnd.slice(0, -1) }), "given back")
    assert.include(
      tampered({ heldAtEnd: [...whole.heldAtEnd.slice(0, 3), ...whole.heldAtEnd.slice(3).toReversed()] }),
      "taken"
    )
  })

  it("do not hold when a program lives on", () => {
    const programs = [...whole.programsAtEnd].map(([name, program]) => [name, { ...program, alive: true }] as const)
    assert.include(tampered({ programsAtEnd: new Map(programs) }), "lead-1 is alive")
  })

  it("do not hold when a log is not what was printed", () => {
    assert.include(tampered({ printed: new Map([["lead-1.stdout.log", "other"]]) }), "lead-1.stdout.log is not")
  })
})
