import { assert, describe, it } from "@effect/vitest"
import { Owner } from "@buzz-orchestra/runtime/docker/OwnerLabels"
import { type LocalReapRule, type OwnedProcess, planLocalReap } from "@buzz-orchestra/runtime/LocalReapPlan"
import * as OwnedDirectory from "@buzz-orchestra/runtime/OwnedDirectory"
import * as ProcessOwner from "@buzz-orchestra/runtime/ProcessOwner"

const owner: Owner = {
  run: "run-1",
  trial: "trial-ü",
  machine: "machine",
  host: "boot/pid:[1]",
  pid: 4242,
  pidStartTime: "99",
  created: "2026-01-02T00:00:00.000Z"
}

const alive = new Map([
  [1, "1"],
  [7, "70"]
])

const rule: LocalReapRule = {
  here: { machine: owner.machine, host: owner.host, startTimeOf: (pid) => alive.get(pid) },
  spare: []
}

const process = (fields: Partial<OwnedProcess> = {}): OwnedProcess => ({
  pid: 500,
  startTime: "1000",
  command: "sh -c wait",
  owner,
  ...fields
})

const fate = (found: OwnedProcess, given: LocalReapRule = rule) => {
  const [decision] = planLocalReap({ processes: [found], directories: [] }, given)
  return [decision?.remove, decision?.why]
}

describe("planLocalReap", () => {
  it("ends what a dead owner left, also when its pid belongs to another process now", () => {
    assert.deepStrictEqual(fate(process()), [true, "its owner, process 4242, is gone"])
    const recycled = process({ owner: { ...owner, pid: 7, pidStartTime: "69" } })
    assert.deepStrictEqual(fate(recycled), [true, "its owner, process 7, is gone"])
  })

  it("leaves the living their own", () => {
    const living = process({ owner: { ...owner, pid: 7, pidStartTime: "70" } })
    assert.deepStrictEqual(fate(living), [false, "its owner, process 7, lives"])
  })

  it("leaves what is from elsewhere, what it cannot read, and everything where it cannot tell who lives", () => {
    const elsewhere = process({ owner: { ...owner, host: "boot/pid:[2]" } })
    assert.deepStrictEqual(fate(elsewhere), [
      false,
      "its owner, process 4242, ran elsewhere, of which nothing is known here"
    ])
    assert.deepStrictEqual(fate(process({ owner: "invalid" })), [false, "its labels are not whole"])
    assert.deepStrictEqual(fate(process(), { ...rule, here: undefined }), [
      false,
      "this machine cannot tell whether its owner lives"
    ])
  })

  it("never ends the command itself, nor whoever started it", () => {
    assert.deepStrictEqual(fate(process(), { ...rule, spare: [500] }), [false, "it runs this command"])
  })

  it("decides of directories by their names, after the processes that may use them", () => {
    const directory = (host: string, pid: number, pidStartTime: string) => {
      const path = `${OwnedDirectory.prefixOf({ host, pid, pidStartTime })}AbC123`
      return { path, owner: OwnedDirectory.ownerOf(path, owner.host)! }
    }
    const plan = planLocalReap(
      {
        processes: [process()],
        directories: [directory(owner.host, 4242, "99"), directory(owner.host, 7, "70"), directory("other", 4242, "99")]
      },
      rule
    )
    assert.deepStrictEqual(
      plan.map(({ object, remove }) => [object.kind, remove]),
      [
        ["process", true],
        ["directory", true],
        ["directory", false],
        ["directory", false]
      ]
    )
  })
})

describe("OwnedDirectory.ownerOf", () => {
  it("knows no other names", () => {
    for (const name of ["buzz-orchestra-", "buzz-orchestra-0123456789abcdef-1-2", "buzz-image-x", "x"])
      assert.isUndefined(OwnedDirectory.ownerOf(name, owner.host))
  })
})

describe("ProcessOwner.inEnvironment", () => {
  const environ = (variables: Readonly<Record<string, string>>) =>
    Object.entries(variables)
      .map(([name, value]) => `${name}=${value}\0`)
      .join("")

  it.prop("reads back what it writes, whatever else is there", [Owner], ([any]) => {
    const text = environ({ PATH: "/bin", ...ProcessOwner.toVariable(any), X: "BUZZ_ORCHESTRA_OWNER={}" })
    assert.deepStrictEqual(ProcessOwner.inEnvironment(text), any)
  })

  it("tells nothing from something that is no owner", () => {
    assert.isUndefined(ProcessOwner.inEnvironment(environ({ PATH: "/bin" })))
    assert.isUndefined(ProcessOwner.inEnvironment(""))
    assert.strictEqual(ProcessOwner.inEnvironment(environ({ [ProcessOwner.OWNER_VARIABLE]: "{" })), "invalid")
  })
})
