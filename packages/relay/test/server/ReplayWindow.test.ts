import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as ReplayWindow from "../../src/server/ReplayWindow.ts"

const Uses = Schema.Array(
  Schema.Struct({
    id: Schema.Literals(["a", "b", "c"]),
    wait: Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: 200 })))
  })
).pipe(Schema.check(Schema.isMaxLength(30)))

describe("ReplayWindow", () => {
  it("remembers an id when its generation has passed", () => {
    const start = 1_750_000_000
    const begun = ReplayWindow.use(ReplayWindow.empty, "a", start)
    const used = begun && ReplayWindow.use(begun, "b", start + 119)
    const turned = used && ReplayWindow.use(used, "c", start + 120)
    assert.isDefined(turned)
    assert.isUndefined(turned && ReplayWindow.use(turned, "b", start + 238))
  })

  it.prop("refuses an id within two minutes and accepts it after six", [Uses], ([uses]) => {
    let window = ReplayWindow.empty
    let now = 1_750_000_000
    const accepted = new Map<string, number>()
    for (const { id, wait } of uses) {
      now += wait
      const age = now - (accepted.get(id) ?? 0)
      const next = ReplayWindow.use(window, id, now)
      if (age < ReplayWindow.WINDOW_SECONDS) assert.isUndefined(next, `${id} after ${age} s`)
      if (age >= 3 * ReplayWindow.WINDOW_SECONDS) assert.isDefined(next, `${id} after ${age} s`)
      if (next !== undefined) {
        window = next
        accepted.set(id, now)
      }
    }
  })
})
