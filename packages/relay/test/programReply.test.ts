import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Reply from "../src/internal/programReply.ts"

const called = { program: "buzz", url: "http://relay", pubkey: "a".repeat(64) }

const failureOf = (code: number, line: unknown) => {
  const stderr = typeof line === "string" ? line : `a warning\n${JSON.stringify(line)}\n`
  const result = Reply.valueOf(called, { code, stdout: "", stderr })
  return Result.isFailure(result) ? result.failure : undefined
}

describe("what a call of the buzz program means", () => {
  it("is the JSON it printed, whatever stands on stderr", () => {
    const ended = { code: 0, stdout: '[{"pubkey":"x"}]\n', stderr: "a warning" }
    assert.deepStrictEqual(Reply.valueOf(called, ended), Result.succeed([{ pubkey: "x" }]))
    const [empty, none] = [Reply.valueOf(called, { ...ended, stdout: "" }), Reply.listOf(called, null)]
    for (const result of [empty, none]) {
      assert.strictEqual(Result.isFailure(result) ? result.failure._tag : "", "RelayReplyMalformed")
    }
  })

  it.each([
    [2, "relay error 502: bad gateway", true, "RelayUnreachable"],
    [2, "network error: connection refused", true, "RelayUnreachable"],
    [2, "network error: connection refused", undefined, "RelayUnreachable"],
    [2, "relay error 504: too slow", undefined, "RelayUnreachable"],
    [2, "relay error 429: rate-limited: retry in 7s", true, "RelayRateLimited"],
    [2, "relay error 500: internal server error", false, "RelayRefused"],
    [2, "relay error 400: invalid: missing p tag", false, "RelayRefused"],
    [3, "relay error 401: missing Nostr auth", false, "RelayAuthRefused"],
    [3, "relay error 403: relay_membership_required", false, "RelayAuthRefused"],
    [3, "relay error 403: restricted: p-gated kinds", false, "RelayRefused"],
    [3, "auth error: invalid BUZZ_AUTH_TAG: bad", false, "RelayAuthRefused"],
    [1, "error: unexpected argument", false, "RelayRefused"],
    [4, "parent event x not found", false, "RelayRefused"],
    [5, "lost against a newer head", false, "RelayRefused"]
  ] as const)("with exit code %i and `%s` (retryable: %s) is %s", (code, message, retryable, tag) => {
    const error = message.startsWith("network") ? "network_error" : "relay_error"
    assert.strictEqual(failureOf(code, { error, message, retryable })?._tag, tag)
  })

  it("keeps the relay's status and its wish for a pause", () => {
    assert.deepInclude(failureOf(2, { error: "relay_error", message: "relay error 429: retry in 7 s" }), {
      retryAfterMillis: 7_000
    })
    assert.deepInclude(failureOf(2, { error: "relay_error", message: "relay error 400: invalid: no" }), {
      status: 400,
      detail: "invalid: no"
    })
  })

  it("of a program that ends in no documented way is a failure of the program", () => {
    assert.deepInclude(failureOf(101, "thread 'main' panicked"), {
      _tag: "BuzzProgramFailed",
      detail: "exit code 101: thread 'main' panicked"
    })
    assert.deepInclude(failureOf(139, ""), { _tag: "BuzzProgramFailed", detail: "exit code 139" })
  })

  it("of a write is its object; a refusal with exit code 0 is a value, a rate limit is not", () => {
    const write = { accepted: false, event_id: "e", message: "duplicate: channel already exists" }
    assert.deepInclude(Result.getOrThrow(Reply.writtenOf(called, write)), { accepted: false, channelId: undefined })
    const limited = Reply.writtenOf(called, { ...write, message: "rate-limited: slow down" })
    assert.strictEqual(Result.isFailure(limited) ? limited.failure._tag : "", "RelayRateLimited")
    assert.isTrue(Result.isFailure(Reply.writtenOf(called, { accepted: true })))
  })
})
