import { FieldInvalid, FieldUnknown } from "@buzz-orchestra/manifest/FieldReason"
import { ManifestError, ManifestReason } from "@buzz-orchestra/manifest/ManifestError"
import { ApiKeyMissing, ProvisioningError, ProvisioningReason } from "@buzz-orchestra/relay/ProvisioningError"
import { RelayError, RelayReason, RelayUnreachable } from "@buzz-orchestra/relay/RelayError"
import { AgentsDied, RuntimeLaunchError, RuntimeLaunchReason } from "@buzz-orchestra/runtime/RuntimeLaunchError"
import { OUTCOMES } from "@buzz-orchestra/runtime/TrialEvent"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Path, Schema } from "effect"
import { ApiKeyVariablesMissing, CommandError, CommandReason } from "../src/CommandError.ts"
import { BUG, ofSignal, OUTCOME_CODES, type Reason, REASON_CODES, USAGE } from "../src/ExitCode.ts"
import { fromError, isKnown, lines, renderReason } from "../src/Failure.ts"
import { PLAIN } from "../src/Style.ts"

const EveryReason: Schema.Schema<Reason> = Schema.Union([
  ...CommandReason.members,
  ...ManifestReason.members,
  ...ProvisioningReason.members,
  ...RelayReason.members,
  ...RuntimeLaunchReason.members
])

const TAGS = [CommandReason, ManifestReason, ProvisioningReason, RelayReason, RuntimeLaunchReason].flatMap((union) =>
  union.members.map((member) => member.identifier)
)

describe("ExitCode", () => {
  it("has a code for every reason of every package, and for nothing else", () => {
    assert.deepStrictEqual(Object.keys(REASON_CODES).toSorted(), [...new Set(TAGS)].toSorted())
  })
  it("has a code for every outcome, and only `done` is a success", () => {
    assert.deepStrictEqual(Object.keys(OUTCOME_CODES).toSorted(), [...OUTCOMES].toSorted())
    assert.deepStrictEqual(
      OUTCOMES.filter((outcome) => OUTCOME_CODES[outcome] === 0),
      ["done"]
    )
  })
  it("gives no code twice, and none that a shell or a signal means", () => {
    const codes = [...Object.values(OUTCOME_CODES), ...Object.values(REASON_CODES), BUG]
    assert.strictEqual(new Set(codes).size, codes.length)
    for (const code of codes) assert.isTrue(code >= 0 && code !== 1 && code < 126, String(code))
  })
  it("reports a signal as shells do", () => {
    assert.deepStrictEqual(
      [ofSignal("SIGINT"), ofSignal("SIGTERM"), ofSignal("SIGHUP"), ofSignal("SIGPIPE"), USAGE],
      [130, 143, 129, 141, 64]
    )
  })
})

describe("renderReason", () => {
  it.prop("every reason has a sentence and something to do next", [EveryReason], ([reason]) => {
    // Its words are the caller's own.
    if (reason._tag === "UsageInvalid") return
    const { line, next } = renderReason(reason)
    assert.isAbove(next.length, 0)
    assert.isAbove(line.length, 0)
  })
})

describe("fromError", () => {
  const position = { line: 7, column: 5 }
  it("puts file, line, column and field in front, and lists the further problems", () => {
    const failure = fromError(
      new ManifestError({
        operation: "load",
        source: "/work/team.yaml",
        reason: new FieldInvalid({
          path: "roster[0].count",
          position,
          expected: "a whole number above 0",
          found: 'the text "3"'
        }),
        others: [new FieldUnknown({ path: "colour", position: { line: 9, column: 1 } })]
      })
    )
    assert.deepStrictEqual(lines(failure, PLAIN), [
      'error: /work/team.yaml:7:5: roster[0].count: expected a whole number above 0, found the text "3"',
      "  /work/team.yaml:9:1: colour: unknown field: remove it, or move it into `metadata`",
      "next: correct the file, then try it with: buzz-orchestra manifest check FILE"
    ])
    assert.strictEqual(failure.exitCode, 102)
  })
  it.prop("is one line whatever the agents and relays said", [RuntimeLaunchReason], ([reason]) => {
    const { detail, line } = fromError(new RuntimeLaunchError({ phase: "launch", reason }))
    for (const text of [line, ...detail]) assert.notMatch(text, /\p{Cc}/u)
  })
  it("speaks of the endpoints file when that is what is wrong", () => {
    const failure = fromError(
      new ManifestError({
        operation: "load endpoints",
        source: "endpoints.json",
        reason: new FieldUnknown({ path: "opus.key" })
      })
    )
    assert.include(failure.next, "endpoints file")
  })
  it("names the variables and endpoints of missing API keys", () => {
    const failure = fromError(
      new CommandError({
        command: "run",
        reason: new ApiKeyVariablesMissing({
          endpointsFile: "endpoints.json",
          missing: [{ endpoint: "opus", variable: "ANTHROPIC_API_KEY" }]
        })
      })
    )
    assert.deepStrictEqual(lines(failure, PLAIN), [
      "error: no API key for the endpoint opus: the variable ANTHROPIC_API_KEY is not set",
      "  endpoints.json names the variable",
      "next: set ANTHROPIC_API_KEY and run the command again"
    ])
  })
  it("says in which phase a launch failed, with the last lines of the agents that died", () => {
    const failure = fromError(
      new RuntimeLaunchError({
        phase: "ready",
        reason: new AgentsDied({
          agents: [
            {
              agentId: "lead-1",
              pid: 12,
              detail: "its process ended",
              exitCode: 1,
              signal: undefined,
              at: 0,
              lastLines: ["config: BUZZ_RELAY_URL is required"]
            }
          ]
        })
      })
    )
    assert.isTrue(failure.line.startsWith("ready: agent processes exited early: lead-1"))
    assert.deepStrictEqual(failure.detail, ["lead-1: config: BUZZ_RELAY_URL is required"])
  })
  it("says which operation on the relay failed", () => {
    const error = new RelayError({
      operation: "BuzzClient.send",
      reason: new RelayUnreachable({ url: "ws://localhost:3600", detail: "connection refused" })
    })
    assert.strictEqual(
      fromError(error).line,
      "BuzzClient.send: the relay ws://localhost:3600 cannot be reached: connection refused"
    )
  })
})

describe("isKnown", () => {
  it("knows the packages' errors and takes everything else for a bug", () => {
    const reason = new ApiKeyMissing({ endpoint: "opus", variable: undefined })
    assert.isTrue(isKnown(new ProvisioningError({ runId: "r", trialId: "t", reason })))
    assert.isFalse(isKnown(reason))
    assert.isFalse(isKnown(new TypeError("x is not a function")))
    assert.isFalse(isKnown("text"))
  })
})

describe("the README", () => {
  it.live("lists every exit code with its meaning", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const readme = yield* fs.readFileString(yield* path.fromFileUrl(new URL("../README.md", import.meta.url)))
      const expected = [
        ...Object.entries(OUTCOME_CODES).map(([outcome, code]) => ({ code, meaning: `outcome \`${outcome}\`` })),
        ...Object.entries(REASON_CODES).map(([reason, code]) => ({ code, meaning: `\`${reason}\`` })),
        { code: BUG, meaning: "a bug of this command" },
        ...(["SIGHUP", "SIGINT", "SIGPIPE", "SIGTERM"] as const).map((signal) => ({
          code: ofSignal(signal),
          meaning: `stopped by ${signal}`
        }))
      ]
        .toSorted((a, b) => a.code - b.code)
        .map(({ code, meaning }) => `| ${code} | ${meaning} |`)
      const rows = readme.split("\n").filter((line) => /^\| \d+ /.test(line))
      assert.deepStrictEqual(
        rows.map((line) => line.replaceAll(/ +/g, " ")),
        expected
      )
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
