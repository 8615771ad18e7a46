import { assert, describe, it } from "@effect/vitest"
import * as RustLog from "@buzz-orchestra/runtime/RustLog"
import { Schema } from "effect"

const REQUIRED = "buzz_acp=info,pool::prompt=info,acp::usage=debug,acp::tool=info,acp::stream=info,acp::wire=off"

describe("RustLog", () => {
  it.each([
    [undefined, REQUIRED],
    ["", REQUIRED],
    ["warn", `warn,${REQUIRED}`],
    ["hyper=debug, tower", `hyper=debug,tower,${REQUIRED}`],
    ["pool::prompt=off,buzz_acp=error", `pool::prompt=off,buzz_acp=error,${REQUIRED}`],
    ["pool::prompt=warn", `pool::prompt=warn,${REQUIRED}`],
    ["acp::wire=trace,acp::wire::json=trace", REQUIRED],
    ["[conn{port=1,host=2}]=trace,acp[x]=trace", REQUIRED],
    ["=,a=b=c,a=verbose,!?", REQUIRED],
    ["INFO,hyper=DEBUG,tower=5", `info,hyper=debug,tower=5,${REQUIRED}`]
  ])("%j becomes %s", (operator, expected) => {
    assert.strictEqual(RustLog.compose(operator), expected)
  })

  it("reads levels as the filter does: the longest fitting target, of equals the last", () => {
    const directives = RustLog.parse("warn,acp=info,acp::stream=error,acp::stream=debug,hyper")
    assert.strictEqual(RustLog.levelOf(directives, "acp::stream"), "debug")
    assert.strictEqual(RustLog.levelOf(directives, "acp::tool"), "info")
    assert.strictEqual(RustLog.levelOf(directives, "tower"), "warn")
    assert.strictEqual(RustLog.levelOf(directives, "hyper::client"), "trace")
    assert.strictEqual(RustLog.levelOf(RustLog.parse("acp=info"), "tower"), "off")
  })

  const Operator = Schema.Array(
    Schema.Struct({
      target: Schema.Literals([
        "",
        "a",
        "acp",
        "acp::w",
        "acp::wire",
        "acp::wire::x",
        "acp::usage",
        "buzz_acp",
        "pool",
        "[s]"
      ]),
      level: Schema.Union([
        Schema.Literals(["", "=off", "=trace", "=TRACE", "=0", "trace", "[f]=trace"]),
        Schema.String
      ])
    })
  )
  it.prop(
    "whatever the operator writes, the runtime reads its targets and no secret is printed",
    { given: Operator },
    ({ given }) => {
      const value = RustLog.compose(given.map(({ level, target }) => target + level).join(","))
      assert.isTrue(value.endsWith(REQUIRED))
      const directives = RustLog.parse(value)
      assert.strictEqual(directives.length, value.split(",").length)
      for (const { level, target } of RustLog.REQUIRED)
        assert.strictEqual(RustLog.levelOf(directives, target ?? ""), level ?? "")
      assert.strictEqual(RustLog.levelOf(directives, "acp::wire::json"), "off")
      assert.notInclude(value, "[")
    }
  )
})
