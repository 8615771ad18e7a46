import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Ref } from "effect"
import { ContainerEngine, type EngineFacts, type OwnedObject } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import { EngineRefused } from "@buzz-orchestra/runtime/docker/EngineError"
import { HostProcess } from "@buzz-orchestra/runtime/docker/HostProcess"
import { type Owner, toLabels } from "@buzz-orchestra/runtime/docker/OwnerLabels"
import { Reaper } from "@buzz-orchestra/runtime/docker/Reaper"

const self = { machine: "m", host: "boot/ns", pid: 10, pidStartTime: "500" }

const ownedBy = (name: string, owner: Partial<Owner>, kind: OwnedObject["kind"] = "container"): OwnedObject => ({
  kind,
  id: name,
  name,
  labels: toLabels({ ...self, run: "r", trial: "t", created: "1960-01-01T00:00:00.000Z", ...owner })
})

const objects = [
  ownedBy("mine", {}),
  ownedBy("dead", { pid: 11, pidStartTime: "600" }),
  ownedBy("recycled", { pid: 12, pidStartTime: "700" }),
  ownedBy("elsewhere", { host: "boot/other", pid: 11 }),
  ownedBy("used", { pid: 11, pidStartTime: "600" }, "image")
]

const facts: EngineFacts = {
  flavor: "docker",
  version: "20.10",
  apiVersion: "1.41",
  architecture: "x86_64",
  operatingSystem: "linux",
  address: "unix:///test",
  local: true
}

const engine = (removed: Ref.Ref<ReadonlyArray<string>>) =>
  Layer.mock(ContainerEngine, {
    facts,
    listOwned: () => Effect.succeed(objects),
    removeOwned: ({ name }) =>
      name === "used"
        ? Effect.fail(new EngineRefused({ action: "remove image used", status: 409, detail: "a container uses it" }))
        : Ref.update(removed, (names) => [...names, name])
  })

const host = (knowsOthers: boolean) =>
  Layer.succeed(
    HostProcess,
    HostProcess.of({
      self,
      knowsOthers,
      startTimeOf: (pid) => Effect.succeed(pid === 10 ? "500" : pid === 12 ? "701" : undefined)
    })
  )

const reaped = (knowsOthers: boolean, dryRun: boolean) =>
  Effect.gen(function* () {
    const removed = yield* Ref.make<ReadonlyArray<string>>([])
    const report = yield* Reaper.use(({ reap }) => reap({ dryRun })).pipe(
      Effect.provide(Reaper.layer.pipe(Layer.provide([engine(removed), host(knowsOthers)])))
    )
    return { report, removed: yield* Ref.get(removed) }
  })

describe("Reaper", () => {
  it.effect("removes what belongs to a dead owner of this host, and to nobody else", () =>
    Effect.gen(function* () {
      const { removed, report } = yield* reaped(true, false)
      assert.deepStrictEqual(removed, ["dead", "recycled"])
      assert.deepStrictEqual(
        report.kept.map(({ object }) => object.name),
        ["mine", "elsewhere"]
      )
    })
  )

  it.effect("goes on after a refusal and reports it", () =>
    Effect.gen(function* () {
      const { report } = yield* reaped(true, false)
      assert.deepStrictEqual(
        report.refused.map(({ decision }) => decision.object.name),
        ["used"]
      )
      assert.include(report.refused[0]?.detail, "a container uses it")
    })
  )

  it.effect("removes nothing in a dry run and says what it would", () =>
    Effect.gen(function* () {
      const { removed, report } = yield* reaped(true, true)
      assert.deepStrictEqual(removed, [])
      assert.deepStrictEqual(
        report.removed.map(({ object }) => object.name),
        ["dead", "recycled", "used"]
      )
    })
  )

  it.effect("removes nothing where it cannot tell who lives", () =>
    Effect.gen(function* () {
      const { removed, report } = yield* reaped(false, false)
      assert.deepStrictEqual([removed, report.removed], [[], []])
    })
  )
})
