import { assert, describe, it } from "@effect/vitest"
import { CommandNotRun, EnvironmentError, EnvironmentReason } from "@buzz-orchestra/runtime/EnvironmentError"
import * as Errors from "@buzz-orchestra/runtime/RuntimeLaunchError"
import { Effect, Exit, Schema } from "effect"

type Expect<Condition extends true> = Condition
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/** The closed union is the sum of the phases, by type. */
export type Sum = Expect<Same<Errors.RuntimeLaunchReason, Errors.ErrorByPhase[Errors.LaunchPhase]["reason"]>>

const GROUPS: Readonly<
  Record<Errors.LaunchPhase, { readonly members: ReadonlyArray<{ readonly identifier: string }> }>
> = {
  prepare: Errors.PrepareReason,
  install: Errors.InstallReason,
  forward: Errors.ForwardReason,
  launch: Errors.LaunchReason,
  ready: Errors.ReadyReason,
  post: Errors.PostReason,
  observe: Errors.ObserveReason,
  "verify-output": Errors.VerifyOutputReason,
  collect: Errors.CollectReason
}

const tagsOf = (group: { readonly members: ReadonlyArray<{ readonly identifier: string }> }) =>
  group.members.map((member) => member.identifier)

const missing = new Errors.BinaryMissing({ missing: [{ name: "buzz-acp", path: "/stack/buzz-acp" }] })
const notRun = new CommandNotRun({ environment: "sandbox", action: "run the shell", detail: "gone" })
const environmentError = new EnvironmentError({ operation: "EnvironmentService.exec", reason: notRun })

/** A body that fails with a reason, then with an environment's error. */
const install = Effect.fn("install")(
  function* (which: "missing" | "environment" | "nothing") {
    if (which === "missing") return yield* missing
    if (which === "environment") return yield* environmentError
    return "installed"
  },
  Effect.mapError((failure) => Errors.inPhase("install")(failure))
)

describe("RuntimeLaunchError", () => {
  it("names each reason once, and all of them in some phase", () => {
    const all = tagsOf(Errors.RuntimeLaunchReason)
    assert.deepStrictEqual([...new Set(all)], all)
    assert.sameMembers([...new Set(Object.values(GROUPS).flatMap(tagsOf))], all)
  })

  it("every phase that touches an environment can lose it, but collecting, which survives that", () => {
    for (const [phase, group] of Object.entries(GROUPS))
      assert.strictEqual(
        tagsOf(EnvironmentReason).every((tag) => tagsOf(group).includes(tag)),
        phase !== "prepare" && phase !== "collect",
        phase
      )
  })

  it.effect("carries the phase and the reason, and keeps an environment's error as the cause", () =>
    Effect.gen(function* () {
      const first: Errors.RuntimeLaunchError<Errors.InstallReason> = yield* Effect.flip(install("missing"))
      assert.deepStrictEqual([first.phase, first.reason, first.cause], ["install", missing, undefined])
      const second = yield* Effect.flip(install("environment"))
      assert.deepStrictEqual([second.reason, second.cause], [notRun, environmentError])
    })
  )

  it.effect("is caught by its reason", () =>
    Effect.gen(function* () {
      const caught = install("missing").pipe(
        Effect.catchReason("RuntimeLaunchError", "BinaryMissing", (reason, error) =>
          Effect.succeed(`${error.phase} ${reason.missing[0].path}`)
        )
      )
      assert.strictEqual(yield* caught, "install /stack/buzz-acp")
      const other = install("environment").pipe(
        Effect.catchReason("RuntimeLaunchError", "BinaryMissing", () => Effect.succeed("caught"))
      )
      assert.isTrue(Exit.isFailure(yield* Effect.exit(other)))
    })
  )

  it("keeps what another package reported", () => {
    const cause = new Error("ENOENT")
    const reason = new Errors.PromptUnreadable({ agent: "lead", path: "lead.md", detail: "no such file" })
    assert.strictEqual(Errors.inPhase("prepare")(reason, cause).cause, cause)
  })

  it.prop("survives a round through its encoded form", [Errors.RuntimeLaunchReason], ([reason]) => {
    const error = new Errors.RuntimeLaunchError({ phase: "observe", reason })
    const decoded = Schema.decodeSync(Errors.RuntimeLaunchError)(Schema.encodeSync(Errors.RuntimeLaunchError)(error))
    assert.strictEqual(decoded.reason.constructor, reason.constructor)
    assert.strictEqual(decoded.message, error.message)
  })
})

describe("RuntimeLaunchError, in words", () => {
  const deadline = { configuredMillis: 60_000, elapsedMillis: 60_040 }
  const log = { lastLines: ["first", "Error: relay connect error", " "] }
  const death = { pid: 7, detail: "exited", exitCode: 1, signal: undefined, at: 0, ...log }

  it.each([
    [
      new Errors.ConfigurationOutOfBounds({
        setting: "maxAgentRounds",
        value: "-1",
        expected: "0 (unbounded) or more"
      }),
      /maxAgentRounds is -1.*unbounded/
    ],
    [
      new Errors.CredentialWithoutClass({ agentId: "x-1", known: ["lead"] }),
      /x-1 does not match a roster class \(lead\)/
    ],
    [
      new Errors.RoleMismatch({ agentId: "worker-1", expected: "worker", actual: "orchestrator" }),
      /worker-1 has the role orchestrator/
    ],
    [
      new Errors.CredentialsIncomplete({ missing: ["a-1"], unexpected: ["b-2"], repeated: [] }),
      /no credential for a-1; a credential too many for b-2/
    ],
    [
      new Errors.PromptDigestMismatch({ agent: "lead", path: "p.md", expected: "aa", actual: "bb" }),
      /hash mismatch.*lead, p.md.*bb instead of aa/
    ],
    [
      new Errors.EndpointNotConfigured({ agentId: "lead-1", endpoint: "m", configured: [] }),
      /endpoint m of lead-1.*none is/
    ],
    [
      new Errors.EndpointOverridesIdentity({ endpoint: "m", variables: ["BUZZ_PRIVATE_KEY"] }),
      /identity: remove BUZZ_PRIVATE_KEY/
    ],
    [
      new Errors.RelayUrlUnusable({ url: "http://relay", neededFor: "forwarder", expected: "ws://" }),
      /forwarder cannot use.*http:\/\/relay.*ws:\/\//
    ],
    [
      new Errors.EnvironmentBusy({ environment: "box", runId: "r", trialId: "t-1" }),
      /box is used by the trial t-1 of the run r/
    ],
    [new Errors.TaskTooLong({ size: 70_000, limit: 65_536 }), /70000 bytes.*65536/],
    [missing, /binary not found: buzz-acp is not at \/stack\/buzz-acp; check/],
    [
      new Errors.BinaryMissing({
        missing: [
          { name: "a", path: "/s/a" },
          { name: "b", path: "/s/b", detail: "denied" }
        ]
      }),
      /a is not at \/s\/a, b is not at \/s\/b \(denied\); check/
    ],
    [
      new Errors.BinaryNotExecutable({
        programs: [
          { name: "a", path: "/s/a" },
          { name: "b", path: "/s/b" }
        ]
      }),
      /not executable: a, b .*chmod \+x \/s\/a \/s\/b$/
    ],
    [new Errors.CaBundleMissing({ path: "/ca.pem", detail: "no such file" }), /CA bundle not found: \/ca.pem/],
    [
      new Errors.LayoutNotWritable({ environment: "box", roots: ["/opt/buzz", "/x"], detail: "denied" }),
      /cannot create \/opt\/buzz or \/x \(denied\)/
    ],
    [new Errors.UploadNotThere({ environment: "box", path: "/opt/buzz/bin/a" }), /\/opt\/buzz\/bin\/a.*is not there/],
    [
      new Errors.ForwarderNotReady({ deadline, ...log }),
      /did not report readiness within 60 s; it said "Error: relay connect error"/
    ],
    [
      new Errors.ForwarderPortBusy({
        listener: "relay-forwarder",
        address: "127.0.0.1:80",
        attempts: 6,
        owner: undefined,
        ...log
      }),
      /^relay-forwarder could not bind 127.0.0.1:80 in 6 attempts: another program, which cannot be seen/
    ],
    [
      new Errors.RelayNotAnswering({
        environment: "box",
        relayUrl: "ws://localhost:1",
        through: "bridge",
        attempts: 3,
        detail: "Connection refused"
      }),
      /^the relay at ws:\/\/localhost:1 does not answer programs in box through the bridge, asked 3 times: Connection/
    ],
    [
      new Errors.ForwarderDied({ exitCode: 101, signal: undefined, lastLines: [] }),
      /relay-forwarder ended with code 101.*said nothing/
    ],
    [new Errors.ForwarderDied({ exitCode: 137, signal: "SIGKILL", lastLines: [] }), /ended by SIGKILL/],
    [
      new Errors.AgentNotLaunched({ agentId: "lead-1", why: "too-big", detail: "E2BIG", exitCode: 126, lastLines: [] }),
      /cannot launch agent lead-1: E2BIG. Make/
    ],
    [
      new Errors.AgentsNotReady({
        channelId: "c",
        deadline: { configuredMillis: 1500, elapsedMillis: 9000 },
        agents: [{ agentId: "w-1", ...log }]
      }),
      /readiness timeout: w-1 .*within 1.5 s \(9 s went by\). w-1 said "Error/
    ],
    [
      new Errors.SubscriptionFailed({ agentId: "w-1", channelId: "c", said: "failed to subscribe", ...log }),
      /w-1 cannot hear the channel c: it said "failed/
    ],
    [
      new Errors.AgentsDied({ agents: [{ agentId: "w-1", ...death }] }),
      /exited early: w-1 \(exited, exit code 1; it said "Error/
    ],
    [new Errors.TaskNotAccepted({ relay: "r", detail: "refused" }), /r did not accept the task: refused/],
    [new Errors.TaskMentionMissing({ eventId: "e", agentId: "lead-1", pubkey: "p" }), /without its mention of lead-1/],
    [
      new Errors.RelayLost({ relay: "r", deadline, attempts: 9, detail: "ECONNREFUSED" }),
      /r could not be reached.*9 attempts.*ECONNREFUSED/
    ],
    [
      new Errors.OutputProbeFailed({ path: "/app/hello.txt", expected: "Hello", actual: undefined }),
      /\/app\/hello.txt must hold "Hello", it is not there/
    ],
    [
      new Errors.EvidenceNotExported({ path: "/logs/e.json", detail: "denied" }),
      /\/logs\/e.json could not be exported.*must not be scored/
    ],
    [notRun, /sandbox could not run the shell: gone/]
  ] as const)("$_tag", (reason, sentence) => {
    assert.match(reason.message, sentence)
    assert.strictEqual(
      new Errors.RuntimeLaunchError({ phase: "observe", reason }).message,
      `observe: ${reason.message}`
    )
  })

  it.prop(
    "every reason says something, and nothing is left out as undefined",
    [Errors.RuntimeLaunchReason],
    ([reason]) => {
      assert.isAbove(reason.message.length, 0)
      const fields = JSON.stringify(reason)
      if (!fields.includes("undefined")) assert.notInclude(reason.message, "undefined")
    }
  )
})
