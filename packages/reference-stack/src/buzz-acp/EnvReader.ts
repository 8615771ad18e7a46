/**
 * Variables as clap's parsers take them: nothing is coerced, and an empty text is a value, not an absence. Pure.
 */
import { Result } from "effect"
import type { ConfigProblem } from "./AcpConfig.ts"

/** An environment. */
export type Env = Readonly<Record<string, string | undefined>>

/** `true` or `false` and nothing else; absent is false. */
export const flag = (env: Env, name: string): Result.Result<boolean, ConfigProblem> =>
  Result.map(oneOf(env, name, ["true", "false"], "false"), (value) => value === "true")

/** One of the given words. */
export const oneOf = <const Word extends string>(
  env: Env,
  name: string,
  words: ReadonlyArray<Word>,
  fallback: Word
): Result.Result<Word, ConfigProblem> => {
  const text = env[name]
  if (text === undefined) return Result.succeed(fallback)
  const word = words.find((one) => one === text)
  return word === undefined ? invalid(name, text, `possible values: ${words.join(", ")}`) : Result.succeed(word)
}

/** A whole number in decimal digits. */
export const integer = (
  env: Env,
  name: string,
  limits: { readonly fallback: number; readonly minimum?: number; readonly maximum?: number }
): Result.Result<number, ConfigProblem> => {
  const text = env[name]
  if (text === undefined) return Result.succeed(limits.fallback)
  const { maximum = Number.MAX_SAFE_INTEGER, minimum = 0 } = limits
  const value = /^\+?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  return value >= minimum && value <= maximum
    ? Result.succeed(value)
    : invalid(name, text, `a whole number from ${minimum}${limits.maximum === undefined ? "" : ` to ${maximum}`}`)
}

const invalid = (name: string, text: string, expected: string): Result.Result<never, ConfigProblem> =>
  Result.fail({ kind: "usage", text: `invalid value '${text}' for '${name}'\n  [${expected}]` })
