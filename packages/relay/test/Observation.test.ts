import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { NostrEvent } from "../src/NostrEvent.ts"
import * as Observation from "../src/Observation.ts"

const CHANNEL = "channel"
const LEAD = "1".repeat(64)
const WORKER = "2".repeat(64)

const event = (id: string, fields: Partial<NostrEvent> = {}): NostrEvent => ({
  id,
  pubkey: WORKER,
  created_at: 100,
  kind: 9,
  tags: [["h", CHANNEL]],
  content: id,
  sig: "0".repeat(128),
  ...fields
})
const done = (id: string, fields: Partial<NostrEvent> = {}) =>
  event(id, { pubkey: LEAD, content: `DONE: ${id}`, ...fields })

const requested: Observation.Input = { _tag: "Requested" }
const endOfStored: Observation.Input = { _tag: "EndOfStored" }
const live = (event: NostrEvent): Observation.Input => ({ _tag: "Event", event })
const read = (generation: number, ...events: ReadonlyArray<NostrEvent>): Observation.Input => ({
  _tag: "Read",
  generation,
  events
})

const run = (...inputs: ReadonlyArray<Observation.Input>) => {
  let state = Observation.begin(CHANNEL)
  const sightings: Array<Observation.Sighting> = []
  for (const input of inputs) {
    const [next, outcome] = Observation.step(state, input)
    state = next
    sightings.push(...outcome.sightings)
  }
  return sightings
}
const ids = (sightings: ReadonlyArray<Observation.Sighting>) => sightings.map(({ event }) => event.id).join(" ")

/** What was sent while the connection was lost. */
const missed = (...events: ReadonlyArray<NostrEvent>) => run(requested, read(1), requested, read(2, ...events))

const doneAfter = (sightings: ReadonlyArray<Observation.Sighting>, after: string) =>
  sightings.reduce(Observation.watch, Observation.watchDone({ orchestrator: LEAD, after })).done?.id

describe("the order of sight", () => {
  it("reads the channel when the stored events have ended", () => {
    const [, atEnd] = Observation.step(Observation.begin(CHANNEL), endOfStored)
    const [, atEvent] = Observation.step(Observation.begin(CHANNEL), live(event("a")))
    assert.strictEqual(atEnd.read, "anew")
    assert.isUndefined(atEvent.read)
  })

  it("sorts the initial history by time, then id", () => {
    const history = [event("c"), event("b", { created_at: 101 }), event("a")]
    assert.strictEqual(ids(run(requested, endOfStored, read(1, ...history))), "a c b")
  })

  it("shows what arrives during the reading after it, once", () => {
    const seen = run(requested, live(event("new")), endOfStored, live(event("b")), read(1, event("b"), event("a")))
    assert.strictEqual(ids(seen), "a b new")
  })

  it("keeps the order of arrival, whatever the authors' clocks say", () => {
    const seen = run(requested, read(1), live(event("z", { created_at: 900 })), live(event("a", { created_at: 1 })))
    assert.strictEqual(ids(seen), "z a")
  })

  it("reads from time to time beside a reading that runs, and shows what the subscription lost", () => {
    const [begun] = Observation.step(Observation.begin(CHANNEL), requested)
    for (const state of [begun, Observation.step(begun, read(1))[0]]) {
      assert.strictEqual(Observation.step(state, { _tag: "Due" })[1].read, "once")
    }
    const seen = run(requested, read(1), live(event("b")), read(1, event("a"), event("b")), live(event("c")))
    assert.strictEqual(ids(seen), "b a c")
  })

  it("holds live events back after a reconnect until what was missed is merged", () => {
    const seen = run(
      requested,
      read(1, event("a")),
      requested,
      live(event("d")),
      endOfStored,
      live(event("e")),
      read(2, event("a"), event("c"), event("d"))
    )
    assert.strictEqual(ids(seen), "a c d e")
  })

  it("does not take a reading of an older connection for the present one", () => {
    const seen = run(requested, read(1), requested, endOfStored, requested, endOfStored, read(2, event("a")))
    assert.strictEqual(ids(seen), "")
    assert.strictEqual(ids(run(requested, read(1), requested, requested, read(2), read(3, event("a")))), "a")
  })

  it("keeps other channels out, and lets deletions in that name none", () => {
    const foreign = event("foreign", { tags: [["h", "other"]] })
    const nameless = event("nameless", { tags: [] })
    const deletion = event("deletion", { kind: 5, tags: [["e", "a"]] })
    assert.strictEqual(ids(run(requested, read(1, foreign, nameless, deletion), live(foreign))), "deletion")
  })

  const Step = Schema.Union([
    Schema.TaggedStruct("Event", { n: Schema.Literals([1, 2, 3, 4, 5, 6]) }),
    Schema.TaggedStruct("Reconnect", { missed: Schema.Array(Schema.Literals([1, 2, 3, 4, 5, 6])) })
  ])
  it.effect.prop(
    "shows every event of any history exactly once",
    [Schema.Array(Step)],
    ([steps]) =>
      Effect.sync(() => {
        let generation = 0
        const inputs: Array<Observation.Input> = []
        const stored = new Set<number>()
        for (const step of steps) {
          if (step._tag === "Event") {
            if (generation === 0) continue
            stored.add(step.n)
            inputs.push(live(event(String(step.n))))
          } else {
            generation += 1
            for (const n of step.missed) stored.add(n)
            inputs.push(requested, endOfStored, read(generation, ...Array.from(stored, (n) => event(String(n)))))
          }
        }
        const seen = run(...inputs).map((sighting) => sighting.event.id)
        assert.deepStrictEqual(seen.toSorted(), Array.from(stored, String).toSorted())
      }),
    { arbitrary: { runs: 200 } }
  )
})

describe("done", () => {
  const task = event("task")

  it("is the orchestrator's first DONE: after the task", () => {
    const seen = run(requested, read(1), live(task), live(done("first")), live(done("second")))
    assert.strictEqual(doneAfter(seen, "task"), "first")
  })

  it("does not compare times: a DONE: of an author whose clock is behind counts", () => {
    const seen = run(requested, read(1), live(task), live(done("d", { created_at: 1 })))
    assert.strictEqual(doneAfter(seen, "task"), "d")
  })

  it("ignores a stale one, seen before the task, even when its time is later or it comes again", () => {
    const stale = done("stale", { created_at: 900 })
    const seen = run(requested, read(1, stale), live(task), live(stale), requested, endOfStored, read(2, stale, task))
    assert.isUndefined(doneAfter(seen, "task"))
  })

  it("ignores others' words, quotes, edits and reactions", () => {
    const no = [
      event("other", { content: "DONE: by a worker" }),
      done("quoted", { content: "> DONE: quoted" }),
      done("spaced", { content: " DONE: spaced" }),
      done("lower", { content: "done: lower" }),
      done("edit", { kind: 40_003 }),
      done("reaction", { kind: 7, tags: [] })
    ]
    assert.isUndefined(doneAfter(run(requested, read(1), live(task), ...no.map(live)), "task"))
    assert.strictEqual(doneAfter(run(requested, read(1), live(task), live(done("v2", { kind: 40_002 }))), "task"), "v2")
  })

  it("counts when it was missed together with the task, on either side of it", () => {
    assert.strictEqual(doneAfter(missed(task, done("a-before-task-by-id")), "task"), "a-before-task-by-id")
    assert.strictEqual(doneAfter(missed(task, done("z-after-task-by-id")), "task"), "z-after-task-by-id")
  })

  it("does not count on the wrong side of the task in the history from before the observation", () => {
    assert.isUndefined(doneAfter(run(requested, read(1, done("a"), task)), "task"))
    assert.strictEqual(doneAfter(run(requested, read(1, task, done("z"))), "task"), "z")
  })

  it("waits when the task has not been seen yet", () => {
    assert.isUndefined(doneAfter(run(requested, read(1), live(done("d"))), "task"))
  })
})
