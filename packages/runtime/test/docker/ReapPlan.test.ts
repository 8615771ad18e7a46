import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { OwnedObject } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import { isOrphaned, type LiveHost, Owner, toLabels } from "@buzz-orchestra/runtime/docker/OwnerLabels"
import { planReap, type ReapRule } from "@buzz-orchestra/runtime/docker/ReapPlan"

const DAY = 24 * 60 * 60 * 1000

const owner: Owner = {
  run: "run-1",
  trial: "trial-1",
  machine: "machine-a",
  host: "boot-a/pid:[1]",
  pid: 4242,
  pidStartTime: "99",
  created: "2026-01-02T00:00:00.000Z"
}

const here: LiveHost = {
  machine: owner.machine,
  host: owner.host,
  startTimeOf: (pid) => (pid === 1 ? "1" : undefined)
}

const rule: ReapRule = { here, now: Date.parse(owner.created) + 8 * DAY, keepImagesMillis: 7 * DAY }

const object = (
  kind: OwnedObject["kind"],
  labels: Readonly<Record<string, string>> = toLabels(owner)
): OwnedObject => ({
  kind,
  id: `${kind}-id`,
  name: `${kind}-name`,
  labels
})

const Kind = Schema.Literals(["container", "network", "volume", "image"])

describe("planReap", () => {
  it("removes what a dead owner left, containers before what they use", () => {
    const plan = planReap([object("image"), object("volume"), object("network"), object("container")], rule)
    assert.deepStrictEqual(
      plan.map(({ object: { kind }, remove }) => [kind, remove]),
      [
        ["container", true],
        ["network", true],
        ["volume", true],
        ["image", true]
      ]
    )
    assert.strictEqual(plan[0]?.why, "its owner, process 4242, is gone")
  })

  it("keeps a young image for the next build of the same content", () => {
    const [decision] = planReap([object("image")], { ...rule, now: Date.parse(owner.created) + DAY })
    assert.deepInclude(decision, { remove: false, why: "the next build of the same content uses it" })
  })

  it("says why it leaves something alone", () => {
    const why = (labels: Readonly<Record<string, string>>, at: ReapRule = rule) =>
      planReap([object("container", labels)], at)[0]?.why
    assert.strictEqual(why(toLabels({ ...owner, pid: 1, pidStartTime: "1" })), "its owner, process 1, lives")
    assert.match(why(toLabels({ ...owner, host: "boot-a/pid:[2]" })) ?? "", /ran elsewhere/)
    assert.strictEqual(why({ "org.buzz-orchestra.host": "boot-a" }), "its labels are not whole")
    assert.match(why(toLabels(owner), { ...rule, here: undefined }) ?? "", /cannot tell/)
  })

  it.prop(
    "removes nothing whose owner may live, whatever the objects",
    { owners: Schema.Array(Owner), kind: Kind, live: Schema.Record(Schema.Int, Schema.String), host: Schema.String },
    ({ host, kind, live, owners }) => {
      const machine: LiveHost = { machine: "m", host, startTimeOf: (pid) => live[pid] }
      const objects = owners.map((each) => object(kind, toLabels(each)))
      const removed = planReap(objects, { here: machine, now: 0, keepImagesMillis: 0 }).filter(({ remove }) => remove)
      const doomed = owners.filter((each) => isOrphaned(each, machine)).length
      assert.isAtMost(removed.length, doomed)
      assert.deepStrictEqual(
        planReap(objects, { here: undefined, now: 0, keepImagesMillis: 0 }).filter(({ remove }) => remove),
        []
      )
    }
  )
})
