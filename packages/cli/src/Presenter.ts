/**
 * What `effect/cli` says in its own name: help on stdout, and for a command line that was not understood a few lines on
 * stderr instead of the whole help.
 */
import { Console, Effect, type Layer } from "effect"
import { CliOutput } from "effect/cli"

/** The presenter of every command. */
export const layer: Layer.Layer<never> = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Console.error(
          [
            ...event.errors.map((error) => `error: ${error.message}`),
            `usage: ${event.helpDoc.usage}`,
            `help:  ${event.commandPath.join(" ")} --help`
          ].join("\n")
        )
      : CliOutput.defaultPresenter.present(event).pipe(Effect.asVoid)
})
