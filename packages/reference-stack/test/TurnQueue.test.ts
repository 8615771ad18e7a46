import { assert, describe, it } from "@effect/vitest"
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import * as TurnQueue from "@buzz-orchestra/reference-stack/buzz-acp/TurnQueue"
import { Arbitrary, Schema } from "effect"

const event = (id: string): NostrEvent => ({
  id,
  pubkey: "a".repeat(64),
  created_at: 0,
  kind: 9,
  tags: [],
  content: "",
  sig: ""
})

const offerAll = (queue: TurnQueue.TurnQueue, channel: string, ids: ReadonlyArray<string>): TurnQueue.TurnQueue => {
  let after = queue
  for (const id of ids) [after] = TurnQueue.offer(after, channel, event(id), "queue")
  return after
}

const taken = (queue: TurnQueue.TurnQueue, now = 0) => {
  const next = TurnQueue.take(queue, now)
  assert.isDefined(next)
  return { queue: next?.queue ?? queue, channel: next?.channel, ids: next?.batch.map(({ id }) => id) ?? [] }
}

const options = { now: 1000, jitter: 0.5, dedup: "queue" } as const

describe("TurnQueue", () => {
  it("gives one turn at a time to a channel, and everything that came meanwhile to the next", () => {
    const first = taken(offerAll(TurnQueue.empty, "c", ["1"]))
    assert.deepStrictEqual(first.ids, ["1"])
    const during = offerAll(first.queue, "c", ["2", "3"])
    assert.isUndefined(TurnQueue.take(during, 0))
    const [after] = TurnQueue.settle(during, "c", "delivered", options)
    assert.deepStrictEqual(taken(after).ids, ["2", "3"])
  })

  it("runs channels beside each other, the one that waited longest first", () => {
    const queue = offerAll(offerAll(TurnQueue.empty, "a", ["1"]), "b", ["2"])
    const first = taken(queue)
    const second = taken(first.queue)
    assert.deepStrictEqual([first.channel, second.channel], ["a", "b"])
    assert.deepStrictEqual(TurnQueue.running(second.queue).toSorted(), ["a", "b"])
  })

  it("takes at most 50 events into a turn and keeps at most 500", () => {
    const ids = Array.from({ length: 501 }, (_, index) => String(index))
    const full = offerAll(TurnQueue.empty, "c", ids)
    assert.strictEqual(TurnQueue.offer(full, "c", event("x"), "queue")[1], "full")
    assert.deepStrictEqual(taken(full).ids, ids.slice(0, 50))
  })

  it("drops what comes for a busy channel when it is told to", () => {
    const { queue } = taken(offerAll(TurnQueue.empty, "c", ["1"]))
    assert.strictEqual(TurnQueue.offer(queue, "c", event("2"), "drop")[1], "busy")
    const [after, settled] = TurnQueue.settle(queue, "c", "failed", { ...options, dedup: "drop" })
    assert.deepStrictEqual(settled, { _tag: "Done" })
    assert.isUndefined(TurnQueue.take(after, Number.MAX_SAFE_INTEGER))
  })

  it("brings a failed batch back after 5, 10, 20 seconds, with newer events, and forgets the count after a success", () => {
    let { queue } = taken(offerAll(TurnQueue.empty, "c", ["1"]))
    queue = offerAll(queue, "c", ["2"])
    const [failed, settled] = TurnQueue.settle(queue, "c", "failed", options)
    assert.deepStrictEqual(settled, { _tag: "Requeued", retry: 1, delayMillis: 5000, events: 1 })
    assert.strictEqual(TurnQueue.nextStart(failed, 1000), 5000)
    assert.isUndefined(TurnQueue.take(failed, 5999))
    const again = taken(failed, 6000)
    assert.deepStrictEqual(again.ids, ["1", "2"])
    const [failedTwice, second] = TurnQueue.settle(again.queue, "c", "failed", options)
    assert.strictEqual(second._tag === "Requeued" ? second.delayMillis : 0, 10_000)
    const third = taken(failedTwice, 11_000)
    const [succeeded] = TurnQueue.settle(third.queue, "c", "delivered", options)
    const next = taken(offerAll(succeeded, "c", ["3"]))
    const [, afresh] = TurnQueue.settle(next.queue, "c", "failed", options)
    assert.strictEqual(afresh._tag === "Requeued" ? afresh.retry : 0, 1)
  })

  it("gives up after ten retries", () => {
    let queue = offerAll(TurnQueue.empty, "c", ["1"])
    let settled: TurnQueue.Settled = { _tag: "Done" }
    const delays: Array<number> = []
    for (let attempt = 0; attempt < 11; attempt++) {
      queue = taken(queue, Number.MAX_SAFE_INTEGER).queue
      ;[queue, settled] = TurnQueue.settle(queue, "c", "failed", options)
      if (settled._tag === "Requeued") delays.push(settled.delayMillis / 1000)
    }
    assert.deepStrictEqual(delays, [5, 10, 20, 40, 80, 160, 300, 300, 300, 300])
    assert.deepStrictEqual(settled, { _tag: "DeadLettered", events: 1 })
    assert.isUndefined(TurnQueue.nextStart(queue, 0))
  })

  it("merges an interrupted batch with what interrupted it, at once", () => {
    const { queue } = taken(offerAll(TurnQueue.empty, "c", ["1"]))
    const [merged, settled] = TurnQueue.settle(offerAll(queue, "c", ["2"]), "c", "merged", options)
    assert.strictEqual(settled._tag, "Done")
    assert.deepStrictEqual(taken(merged).ids, ["1", "2"])
  })

  it("forgets a channel without letting two turns run in it", () => {
    const { queue } = taken(offerAll(TurnQueue.empty, "c", ["1"]))
    const removed = TurnQueue.remove(offerAll(queue, "c", ["2"]), "c")
    assert.isUndefined(TurnQueue.take(offerAll(removed, "c", ["3"]), 0))
    assert.isUndefined(TurnQueue.nextStart(TurnQueue.remove(offerAll(TurnQueue.empty, "c", ["1"]), "c"), 0))
  })

  it.prop(
    "varies a pause by at most a fifth",
    { jitter: Arbitrary.schema(Schema.Finite.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: 1 })))) },
    ({ jitter }) => {
      const { queue } = taken(offerAll(TurnQueue.empty, "c", ["1"]))
      const [, settled] = TurnQueue.settle(queue, "c", "failed", { ...options, jitter })
      const delay = settled._tag === "Requeued" ? settled.delayMillis : 0
      assert.isTrue(delay >= 4000 && delay <= 6000)
    }
  )

  it.prop(
    "loses and doubles no event, whatever happens",
    [Arbitrary.schema(Schema.Array(Schema.Literals(["offer", "take", "delivered", "failed", "merged"])))],
    ([steps]) => {
      let queue = TurnQueue.empty
      let offered = 0
      let inFlight: ReadonlyArray<string> = []
      const delivered: Array<string> = []
      for (const step of steps) {
        if (step === "offer") queue = offerAll(queue, "c", [String(offered++)])
        else if (step === "take") {
          const next = TurnQueue.take(queue, Number.MAX_SAFE_INTEGER)
          if (next !== undefined) {
            queue = next.queue
            inFlight = next.batch.map(({ id }) => id)
          }
        } else if (inFlight.length > 0) {
          const [after, settled] = TurnQueue.settle(queue, "c", step, options)
          queue = after
          if (step === "delivered" || settled._tag === "DeadLettered") delivered.push(...inFlight)
          inFlight = []
        }
      }
      if (inFlight.length > 0) [queue] = TurnQueue.settle(queue, "c", "merged", options)
      for (let next = TurnQueue.take(queue, Number.MAX_SAFE_INTEGER); next !== undefined;) {
        delivered.push(...next.batch.map(({ id }) => id))
        ;[queue] = TurnQueue.settle(next.queue, "c", "delivered", options)
        next = TurnQueue.take(queue, Number.MAX_SAFE_INTEGER)
      }
      assert.deepStrictEqual(
        delivered,
        Array.from({ length: offered }, (_, index) => String(index))
      )
    }
  )
})
