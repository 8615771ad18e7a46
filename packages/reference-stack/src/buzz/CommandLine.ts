/**
 * Arguments of `buzz` as clap reads them. Pure; which commands and options exist is `Commands`.
 */
import { Result } from "effect"

/** One `--option`. */
export interface OptionSpec {
  readonly name: string
  /** A flag takes no value. */
  readonly isFlag?: boolean
  readonly isRequired?: boolean
  /** May be given several times. */
  readonly isRepeatable?: boolean
  /** The only values allowed. */
  readonly values?: ReadonlyArray<string>
}

/** Values by option name, in the order given. A flag that was given has the value `true`. */
export type Options = Readonly<Record<string, ReadonlyArray<string> | undefined>>

/** Reads `--name value` and `--name=value`. The failure is clap's kind of text. */
export const parse = (specs: ReadonlyArray<OptionSpec>, args: ReadonlyArray<string>): Result.Result<Options, string> =>
  Result.gen(function* () {
    const options: Record<string, ReadonlyArray<string>> = {}
    for (let index = 0; index < args.length; index++) {
      const arg = args[index] ?? ""
      const [, name, inline] = /^--([a-z0-9-]+)(?:=([\s\S]*))?$/.exec(arg) ?? []
      const spec = specs.find((one) => one.name === name)
      if (spec === undefined) return yield* Result.fail(`error: unexpected argument '${arg}' found`)
      const earlier = options[spec.name]
      if (earlier !== undefined && spec.isRepeatable !== true)
        return yield* Result.fail(`error: the argument '--${spec.name}' cannot be used multiple times`)
      const value = spec.isFlag === true ? "true" : (inline ?? args[++index])
      // A value that begins with a hyphen needs the `=` form; a lone hyphen is stdin.
      const isOption = inline === undefined && spec.isFlag !== true && value !== "-" && value?.startsWith("-") === true
      if (value === undefined || isOption)
        return yield* Result.fail(`error: a value is required for '--${spec.name}' but none was supplied`)
      if (spec.values !== undefined && !spec.values.includes(value))
        return yield* Result.fail(
          `error: invalid value '${value}' for '--${spec.name}'\n  [possible values: ${spec.values.join(", ")}]`
        )
      options[spec.name] = [...(earlier ?? []), value]
    }
    const missing = specs.filter((spec) => spec.isRequired === true && options[spec.name] === undefined)
    if (missing.length > 0)
      return yield* Result.fail(
        `error: the following required arguments were not provided:\n${missing.map(({ name }) => `  --${name}`).join("\n")}`
      )
    return options
  })

/** Takes the options that stand before the first word that is none. */
export const globals = (
  specs: ReadonlyArray<OptionSpec>,
  args: ReadonlyArray<string>
): Result.Result<{ readonly options: Options; readonly rest: ReadonlyArray<string> }, string> => {
  let end = 0
  while (end < args.length && args[end]?.startsWith("--") === true) {
    const [, name, inline] = /^--([a-z0-9-]+)(=)?/.exec(args[end] ?? "") ?? []
    const isKnown = specs.some((spec) => spec.name === name)
    if (!isKnown) break
    end += inline === undefined ? 2 : 1
  }
  return Result.map(parse(specs, args.slice(0, end)), (options) => ({ options, rest: args.slice(end) }))
}
