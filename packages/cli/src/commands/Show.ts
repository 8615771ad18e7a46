/**
 * `show`: what became of a trial, on one screen, as JSON, or as a page to hand on.
 */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { importBundleCommands } from "../internal/importBundleCommands.ts"
import { directoryArgument } from "./Bundle.ts"

const flags = {
  directory: directoryArgument,
  json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON document instead"), Flag.withDefault(false)),
  html: Flag.String("html").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("Write one page that needs nothing else: timeline, transcript, cost"),
    Flag.optional
  )
}

/** `buzz-orchestra show`. */
export const show = Command.make(
  "show",
  flags,
  Effect.fn("show")(function* (given) {
    const { show } = yield* importBundleCommands
    yield* show(given)
  })
).pipe(
  Command.withDescription("Show what became of a trial: outcome, team, who spoke to whom, cost, times, anomalies"),
  Command.withExamples([
    { command: "buzz-orchestra show trials/first", description: "One screen" },
    { command: "buzz-orchestra show trials/first --html first.html", description: "A page for a browser or a phone" },
    { command: "buzz-orchestra show trials/first --json | jq .cost_usd", description: "For programs" }
  ])
)
