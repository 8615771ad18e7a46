/**
 * `reap`: finds and ends what a killed harness left, and leaves the living their own.
 */
import { Clock, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { CommandError, LeftoversRemain } from "../CommandError.ts"
import { announceError, writeExited } from "../ExitedLine.ts"
import { reapedLine } from "../JsonLines.ts"
import { Output } from "../Output.ts"
import { type Absent, type PlaceReport, placeLines } from "../reap/Place.ts"

/** `buzz-orchestra reap`. */
export const reap = Command.make(
  "reap",
  {
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withDescription("Only say what would be removed"),
      Flag.withDefault(false)
    ),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print what was done as NDJSON"), Flag.withDefault(false))
  },
  Effect.fn("reap")(
    function* ({ dryRun, json }) {
      const { localPlace } = yield* Effect.promise(() => import("../reap/LocalPlace.ts"))
      const { enginePlace } = yield* Effect.promise(() => import("../reap/EnginePlace.ts"))
      const { relayPlace } = yield* Effect.promise(() => import("../reap/RelayPlace.ts"))
      const reports: Array<PlaceReport> = []
      for (const place of [localPlace, relayPlace, enginePlace]) {
        const report = yield* place.reap(dryRun)
        yield* print(place.name, report, { dryRun, json })
        if (!("absent" in report)) reports.push(report)
      }
      const remaining = reports.flatMap(({ refused }) => refused)
      const [first] = remaining
      if (first !== undefined) {
        const { detail, kind, name } = first
        const reason = new LeftoversRemain({ count: remaining.length, first: `${kind} ${name}`, detail })
        return yield* new CommandError({ command: "reap", reason })
      }
      if (json) return yield* writeExited({ exitCode: 0, error: undefined })
      if (reports.every(({ kept, removed }) => kept.length + removed.length === 0))
        yield* Output.use(({ write }) => write("nothing is left of any harness\n"))
    },
    (effect, { json }) => announceError(json)(effect)
  )
).pipe(
  Command.withDescription("End what a killed harness left: processes, temporary files, channels, containers"),
  Command.withExamples([
    { command: "buzz-orchestra reap --dry-run", description: "Say what is left, and whose it is" },
    { command: "buzz-orchestra reap", description: "End what belongs to nobody any more" }
  ])
)

const print = Effect.fnUntraced(function* (
  place: string,
  report: PlaceReport | Absent,
  { dryRun, json }: { readonly dryRun: boolean; readonly json: boolean }
) {
  const output = yield* Output
  const at = yield* Clock.currentTimeMillis
  const lines = json ? placeEvents(at, place, report, dryRun) : placeLines(report, dryRun, output.style)
  yield* output.write(lines.map((line) => `${line}\n`).join(""))
})

const placeEvents = (
  at: number,
  place: string,
  report: PlaceReport | Absent,
  dryRun: boolean
): ReadonlyArray<string> => {
  const line = (event: string) => (fields: object) => reapedLine(at, event, { place, ...fields })
  if ("absent" in report) return [line("NotAsked")({ why: report.absent })]
  return [
    ...report.removed.map(line(dryRun ? "WouldRemove" : "Removed")),
    ...report.refused.map(line("NotRemoved")),
    ...report.kept.map(line("Kept"))
  ]
}
