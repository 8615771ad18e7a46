/**
 * `doctor`: what works on this machine, really tried, and what to do about the rest.
 */
import { Clock, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { CommandError, NoEnvironmentWorks } from "../CommandError.ts"
import { canRunTrials, type Finding, findingLines } from "../doctor/Finding.ts"
import { announceError, writeExited } from "../ExitedLine.ts"
import { checkedLine } from "../JsonLines.ts"
import { oneLine } from "../internal/terminalText.ts"
import { Output } from "../Output.ts"
import { relayFlags, toRelayOptions } from "./RelayFlags.ts"

/** A relay is asked directly. */
const NATIVE = { client: "native", buzz: Option.none<string>() } as const

/** `buzz-orchestra doctor`. */
export const doctor = Command.make(
  "doctor",
  {
    relay: Flag.String("relay").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription("Also ask this relay, over HTTP and WebSocket, and compare its clock with this machine's"),
      Flag.optional
    ),
    relayDial: relayFlags.relayDial,
    relayCa: relayFlags.relayCa,
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print the findings as NDJSON"), Flag.withDefault(false))
  },
  Effect.fn("doctor")(
    function* ({ json, relay, relayCa, relayDial }) {
      const { examine } = yield* Effect.promise(() => import("../doctor/Examination.ts"))
      const options = yield* Effect.mapError(
        Effect.fromResult(toRelayOptions({ ...NATIVE, relayCa, relayDial }, Option.getOrUndefined(relay))),
        (reason) => new CommandError({ command: "doctor", reason })
      )
      const findings = yield* examine(Option.getOrUndefined(relay), options)
      yield* print(findings, json)
      if (!canRunTrials(findings))
        return yield* new CommandError({ command: "doctor", reason: new NoEnvironmentWorks({}) })
      if (json) yield* writeExited({ exitCode: 0, error: undefined })
    },
    (effect, { json }) => announceError(json)(effect)
  )
).pipe(
  Command.withDescription("Say what works on this machine: sandbox, containers, stack, relay, disk"),
  Command.withExamples([
    { command: "buzz-orchestra doctor", description: "Try everything that trials need" },
    {
      command: "buzz-orchestra doctor --relay ws://localhost:3600",
      description: "And whether this relay answers and has the same time"
    }
  ])
)

const print = Effect.fnUntraced(function* (findings: ReadonlyArray<Finding>, json: boolean) {
  const output = yield* Output
  const at = yield* Clock.currentTimeMillis
  const lines = json
    ? findings.map((finding) => checkedLine(at, finding))
    : findings.flatMap((finding) => findingLines({ ...finding, detail: oneLine(finding.detail) }, output.style))
  yield* output.write(lines.map((line) => `${line}\n`).join(""))
})
