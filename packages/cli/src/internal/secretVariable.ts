import { Config, Effect, Option, Redacted } from "effect"

/** A secret in an environment variable; an empty one is as good as none. */
export const secretVariable = (name: string): Effect.Effect<Redacted.Redacted<string> | undefined> =>
  Config.option(Config.String(name)).pipe(
    Effect.orElseSucceed(() => Option.none<string>()),
    Effect.map((value) => Option.getOrUndefined(Option.filter(value, (text) => text.trim() !== ""))),
    Effect.map((value) => (value === undefined ? undefined : Redacted.make(value, { label: name })))
  )
