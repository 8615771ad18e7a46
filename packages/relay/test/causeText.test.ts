import { assert, it } from "@effect/vitest"
import { causeText } from "../src/internal/causeText.ts"

it("says what the innermost error says", () => {
  const refused = new Error("connect ECONNREFUSED")
  assert.strictEqual(causeText(new TypeError("fetch failed", { cause: refused })), "connect ECONNREFUSED")
  assert.strictEqual(causeText({ type: "error", error: refused }), "connect ECONNREFUSED")
  assert.strictEqual(causeText(new AggregateError([refused, new Error("other")], "")), "connect ECONNREFUSED")
  assert.strictEqual(causeText(new Error("outer", { cause: "text" })), "outer")
})

it("says nothing where there is nothing to say, and does not follow a circle for ever", () => {
  for (const nothing of [undefined, null, "text", 7, {}, new Error("")]) assert.isUndefined(causeText(nothing))
  const circle: { cause?: unknown; message: string } = { message: "round" }
  circle.cause = circle
  assert.strictEqual(causeText(circle), "round")
})
