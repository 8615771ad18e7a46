import { assert, describe, it } from "@effect/vitest"
import { canRunTrials, type Finding, findingLines } from "../../src/doctor/Finding.ts"
import { checkNode } from "../../src/doctor/NodeCheck.ts"
import { PLAIN } from "../../src/Style.ts"

const sandbox = (status: Finding["status"]): Finding => ({
  topic: "sandbox",
  status,
  detail: "it is so",
  isEnvironment: true
})
const relay = (status: Finding["status"]): Finding => ({ topic: "relay", status, detail: "it is so" })

describe("findings", () => {
  it("let trials run where one environment works, whatever else is missing", () => {
    assert.isTrue(canRunTrials([sandbox("missing"), sandbox("warn"), relay("missing")]))
    assert.isFalse(canRunTrials([sandbox("missing"), relay("ok")]))
    assert.isFalse(canRunTrials([]))
  })

  it("are one line each, and one more where something is to be done", () => {
    assert.deepStrictEqual(findingLines(sandbox("ok"), PLAIN), ["sandbox   ok      it is so"])
    assert.deepStrictEqual(findingLines({ ...relay("missing"), next: "start it" }, PLAIN), [
      "relay     missing it is so",
      "                  next: start it"
    ])
  })
})

describe("Node", () => {
  it("is new enough from 22.19 on", () => {
    for (const version of ["22.19.0", "22.20.1", "23.0.0", "26.10.0"])
      assert.strictEqual(checkNode(version).status, "ok")
    for (const version of ["20.20.2", "22.18.9"]) {
      const { next, status } = checkNode(version)
      assert.deepStrictEqual([status, next], ["missing", "install Node 22.19 or later"])
    }
  })
})
