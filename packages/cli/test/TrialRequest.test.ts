import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { defaultDirectory, parseDownload, parseInstruction, parseRelay, parseUpload } from "../src/TrialRequest.ts"

const refused = <A>(result: Result.Result<A, { readonly _tag: string }>): boolean =>
  Result.isFailure(result) && result.failure._tag === "UsageInvalid"

describe("TrialRequest", () => {
  it("splits an upload at the colon before the absolute path", () => {
    assert.deepStrictEqual(
      parseUpload("data.csv:/app/data.csv"),
      Result.succeed({ source: "data.csv", target: "/app/data.csv" })
    )
    assert.deepStrictEqual(parseUpload("a:b.csv:/app"), Result.succeed({ source: "a:b.csv", target: "/app" }))
    assert.isTrue(refused(parseUpload("data.csv")))
    assert.isTrue(refused(parseUpload("data.csv:app/data.csv")))
    assert.isTrue(refused(parseUpload(":/app/data.csv")))
  })
  it("splits a download at the first colon after an absolute path", () => {
    assert.deepStrictEqual(parseDownload("/app:result"), Result.succeed({ source: "/app", target: "result" }))
    assert.deepStrictEqual(parseDownload("/app/x:C:x"), Result.succeed({ source: "/app/x", target: "C:x" }))
    assert.isTrue(refused(parseDownload("/app")))
    assert.isTrue(refused(parseDownload("/app:")))
    assert.isTrue(refused(parseDownload("app:result")))
  })
  it("takes exactly one instruction, and not an empty one", () => {
    assert.deepStrictEqual(parseInstruction("do it", undefined), Result.succeed({ text: "do it" }))
    assert.deepStrictEqual(parseInstruction(undefined, "task.md"), Result.succeed({ file: "task.md" }))
    assert.isTrue(refused(parseInstruction(undefined, undefined)))
    assert.isTrue(refused(parseInstruction(" \n", undefined)))
    assert.isTrue(refused(parseInstruction("do it", "task.md")))
  })
  it("embeds a relay unless one is given; another view of one alone means nothing", () => {
    assert.deepStrictEqual(parseRelay(undefined, undefined), Result.succeed({ _tag: "Embedded" }))
    assert.deepStrictEqual(
      parseRelay("ws://localhost:3600", undefined),
      Result.succeed({ _tag: "Running", url: "ws://localhost:3600", userUrl: undefined })
    )
    assert.isTrue(refused(parseRelay(undefined, "http://localhost:3600")))
    assert.isTrue(refused(parseRelay(undefined, undefined, "172.17.0.1:3600")))
  })
  it("makes a directory name of any condition", () => {
    const time = Date.UTC(2026, 10, 30, 2, 48, 7)
    assert.strictEqual(defaultDirectory("M1-hello-world", time), "trials/M1-hello-world-20261130T024807Z")
    assert.strictEqual(defaultDirectory("../../etc/passwd", time), "trials/etc-passwd-20261130T024807Z")
    assert.strictEqual(defaultDirectory("世界", time), "trials/trial-20261130T024807Z")
  })
})
