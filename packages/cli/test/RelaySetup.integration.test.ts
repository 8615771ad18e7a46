/** A relay and an environment that have to find each other; commands of the environment run on this machine. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { type Answer, exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { probeRelay } from "@buzz-orchestra/runtime/RelayProbe"
import type { StackFiles } from "@buzz-orchestra/runtime/StackFiles"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { HostAccess, type Way } from "../src/HostAccess.ts"
import * as Failure from "../src/Failure.ts"
import * as RelaySetup from "../src/RelaySetup.ts"
import type { RelayRequest } from "../src/TrialRequest.ts"

const requestFor = (relay: RelayRequest) => ({
  command: "run",
  manifest: "team.yaml",
  instruction: { text: "do it" },
  endpoints: "endpoints.json",
  artifactRoot: undefined,
  out: undefined,
  stack: "reference",
  relay,
  uploads: [],
  relayGateway: undefined,
  ownerKeyVariable: undefined,
  userKeyVariable: undefined,
  readinessSeconds: undefined,
  sweep: "stack" as const
})

const PROGRAMS: StackFiles = { programs: {} }

/** The relay is in this process, which must not stand still while it is asked. */
const shell: Answer = (command) =>
  Effect.callback((resume) => {
    const child = execFile("sh", ["-c", command], (_error, stdout, stderr) =>
      resume(Effect.succeed(exited(child.exitCode ?? 255, { stdout, stderr })))
    )
  })

const within = (way: Way) =>
  Effect.provide(
    Layer.mergeAll(
      Layer.succeed(HostAccess, way),
      RecordingEnvironment.layer({ facts: { name: "container x" }, answers: [shell] })
    ).pipe(Layer.provide(NodeServices.layer))
  )

const refusal = (relay: RelayRequest, way: Way) =>
  RelaySetup.open(requestFor(relay), PROGRAMS).pipe(
    within(way),
    Effect.scoped,
    Effect.flip,
    Effect.map((error) => [error.reason._tag, Failure.fromError(error).line])
  )

describe("the embedded relay", () => {
  it.live("is served where the environment reaches it, and answers under the URL that agents dial", () =>
    Effect.gen(function* () {
      const access = yield* RelaySetup.open(requestFor({ _tag: "Embedded" }), PROGRAMS)
      const port = new URL(access.relayUrl).port
      assert.deepStrictEqual(access, {
        relayUrl: `ws://localhost:${port}`,
        userRelayUrl: `ws://127.0.0.1:${port}`
      })
      assert.deepStrictEqual(yield* probeRelay(access.relayUrl), { _tag: "RelayAnswered", handshake: true })
    }).pipe(Effect.scoped, within({ _tag: "Gateway", name: "localhost", address: "127.0.0.1" }))
  )

  it.live("is refused to an environment from which no way leads to it", () =>
    Effect.gen(function* () {
      const [reason, line = ""] = yield* refusal({ _tag: "Embedded" }, { _tag: "None" })
      assert.strictEqual(reason, "RelayNotReached")
      assert.match(line, /^the relay ws:\/\/127\.0\.0\.1:\d+ is not reached from container x: no way leads from/)
    })
  )
})

describe("a relay that runs already", () => {
  it.live("is left to the trial, which asks it from inside", () =>
    Effect.gen(function* () {
      const relay: RelayRequest = { _tag: "Running", url: "ws://127.0.0.1:9", userUrl: undefined }
      for (const way of [{ _tag: "SameNetwork" }, { _tag: "None" }] as const) {
        const access = yield* RelaySetup.open(requestFor(relay), PROGRAMS).pipe(Effect.scoped, within(way))
        assert.deepStrictEqual(access, { relayUrl: relay.url })
      }
    })
  )

  it.live("on this machine's loopback is offered where containers see it", () =>
    Effect.gen(function* () {
      const { relayUrl } = yield* RelaySetup.open(requestFor({ _tag: "Embedded" }), PROGRAMS).pipe(
        within({ _tag: "SameNetwork" })
      )
      const relay: RelayRequest = { _tag: "Running", url: relayUrl, userUrl: undefined }
      const stack = { ...PROGRAMS, forwarder: "/relay-forwarder" }
      const access = yield* RelaySetup.open(requestFor(relay), stack).pipe(
        within({ _tag: "Gateway", name: "127.0.0.2", address: "127.0.0.2" })
      )
      assert.match(access.relayGateway ?? "", /^127\.0\.0\.2:[0-9]+$/)
      const answer = yield* probeRelay(`ws://${access.relayGateway}`).pipe(within({ _tag: "SameNetwork" }))
      // Another name is another relay to it: that it answered at all is what the way leads to.
      assert.match(JSON.stringify(answer), /RelayAnswered|it answered HTTP/)
    }).pipe(Effect.scoped)
  )
})
