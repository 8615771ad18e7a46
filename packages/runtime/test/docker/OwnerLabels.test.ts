import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { fromLabels, isOrphaned, Owner, toLabels } from "../../src/docker/OwnerLabels.ts"

const owner: Owner = {
  run: "run-1",
  trial: "trial-1",
  machine: "machine-a",
  host: "boot-a/pid:[1]",
  pid: 4242,
  pidStartTime: "99",
  created: "2026-01-02T03:04:05.000Z"
}

describe("OwnerLabels", () => {
  it.prop("reads back what it writes", [Owner], ([any]) => {
    assert.deepStrictEqual(fromLabels(toLabels(any)), Option.some(any))
  })

  it("takes no object for ours whose labels are missing or no labels of ours", () => {
    const { "org.buzz-orchestra.pid": _, ...without } = toLabels(owner)
    assert.deepStrictEqual(fromLabels(without), Option.none())
    assert.deepStrictEqual(fromLabels({ ...toLabels(owner), "org.buzz-orchestra.pid": "many" }), Option.none())
    assert.deepStrictEqual(fromLabels({}), Option.none())
  })

  it("calls an owner gone when its pid is not that process any more", () => {
    assert.isFalse(isOrphaned(owner, running("99")))
    assert.isTrue(isOrphaned(owner, running(undefined)))
    assert.isTrue(isOrphaned(owner, running("100")))
  })

  it("calls an owner gone when its machine was started anew, and says nothing about other machines and namespaces", () => {
    assert.isTrue(isOrphaned(owner, { ...here, host: "boot-b/pid:[1]" }))
    assert.isFalse(isOrphaned(owner, { ...here, host: "boot-a/pid:[2]" }))
    assert.isFalse(isOrphaned(owner, { ...here, host: "boot-b/pid:[1]", machine: "machine-b" }))
    assert.isFalse(isOrphaned({ ...owner, machine: "" }, { ...here, host: "boot-b/pid:[1]", machine: "" }))
  })
})

/** Where the owner ran; nobody lives there any more. */
const here = { machine: owner.machine, host: owner.host, startTimeOf: () => undefined }

/** The same, with one process. */
const running = (startTime: string | undefined) => ({ ...here, startTimeOf: () => startTime })
