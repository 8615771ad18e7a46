/**
 * What `--help` prints, in clap's form: a script can see from the options of a command what this build of it can do. Pure.
 */
import type { OptionSpec } from "./CommandLine.ts"

/** A command as help knows it. */
interface Described {
  readonly about: string
  readonly options: ReadonlyArray<OptionSpec>
}

type Groups<A> = Readonly<Record<string, Readonly<Record<string, A>>>>

/** Help for the program, for the group named first in `words`, or for the command named next. */
export const render = (
  groups: Groups<Described>,
  globals: ReadonlyArray<OptionSpec>,
  words: ReadonlyArray<string>
): string => {
  const [group = "", name = ""] = words
  const commands = Object.hasOwn(groups, group) ? groups[group] : undefined
  if (commands === undefined)
    return page("buzz [OPTIONS] <COMMAND>", [
      ["Commands:", Object.keys(groups).map((one) => [one, `Commands about ${one}`])],
      ["Options:", [...globals.map(option), HELP, VERSION]]
    ])
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined)
    return page(`buzz ${group} <COMMAND>`, [
      ["Commands:", Object.entries(commands).map(([one, { about }]) => [one, about])],
      ["Options:", [HELP]]
    ])
  const needed = command.options.flatMap((spec) => (spec.isRequired === true ? [` ${option(spec)[0].trim()}`] : []))
  return `${command.about}\n\n${page(`buzz ${group} ${name} [OPTIONS]${needed.join("")}`, [
    ["Options:", [...command.options.map(option), HELP]]
  ])}`
}

/** What stands left and right in a table of help. */
type Row = readonly [left: string, right: string]

const HELP: Row = ["-h, --help", "Print help"]
const VERSION: Row = ["-V, --version", "Print version"]

const option = ({ isFlag, isRepeatable, name, values }: OptionSpec): Row => [
  `    --${name}${isFlag === true ? "" : ` <${name.toUpperCase().replaceAll("-", "_")}>`}`,
  [
    ...(isRepeatable === true ? ["may be given several times"] : []),
    ...(values === undefined ? [] : [`[possible values: ${values.join(", ")}]`])
  ].join(" ")
]

const page = (usage: string, tables: ReadonlyArray<readonly [title: string, rows: ReadonlyArray<Row>]>): string =>
  [`Usage: ${usage}`, ...tables.map(([title, rows]) => [title, ...aligned(rows)].join("\n"))].join("\n\n")

const aligned = (rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd())
}
