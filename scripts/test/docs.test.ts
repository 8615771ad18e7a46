/** The pages are true in what can be told without running them: their links lead somewhere, and the command knows what they type. */
import { toRequest } from "../../packages/cli/src/commands/Run.ts"
import { tree } from "../../packages/cli/src/Main.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { CliError, Command } from "effect/cli"
import { brokenLinks, callsIn, pages, shownCommands } from "./DocPages.ts"

/** The same tree of commands, which do nothing but to look at what they are given. */
const inert = (command: Command.Command.Any): Command.Command.Any => {
  const [first, ...others] = command.subcommands.flatMap(({ commands }) => commands).map(inert)
  if (first !== undefined) return Command.make(command.name).pipe(Command.withSubcommands([first, ...others]))
  const leaf = command as Command.Command<string, Parameters<typeof toRequest>[0], object>
  return Command.withHandler(leaf, (input) =>
    command.name === "run" ? Effect.fromResult(toRequest(input)) : Effect.void
  )
}

/** What `--help` shows of a command and those below it. */
const examplesOf = ({ examples, subcommands }: Command.Command.Any): ReadonlyArray<string> => [
  ...examples.map(({ command }) => command),
  ...subcommands.flatMap(({ commands }) => commands.flatMap(examplesOf))
]

const parse = Command.runWith(inert(tree) as Command.Command<string, object>, { version: "0", renderErrors: false })

/** Pages speak of files and folders of the reader's. */
const files = FileSystem.layerNoop({
  exists: () => Effect.succeed(true),
  stat: () => Effect.succeed({ type: "Directory" } as FileSystem.File.Info)
})

/** What the command has to say against a line, if anything. */
const objection = (args: ReadonlyArray<string>) =>
  Effect.match(parse(args), {
    onSuccess: () => undefined,
    onFailure: (error: unknown) => {
      if (!CliError.isCliError(error)) return JSON.stringify(error)
      return error._tag === "ShowHelp"
        ? error.errors.map(({ message }) => message).join("; ") || undefined
        : error.message
    }
  })

describe("the pages", () => {
  it("have links that lead somewhere", () => {
    const broken = pages.flatMap((page) => brokenLinks(page).map((link) => `${page.path}: ${link}`))
    assert.deepStrictEqual(broken, [])
    assert.isAbove(pages.length, 20)
  })

  it.effect("type commands that are understood, as --help does", () =>
    Effect.gen(function* () {
      const shown = [
        ...pages.flatMap((page) => shownCommands(page.text).map((call) => ({ ...call, where: page.path }))),
        ...examplesOf(tree).flatMap((line) => callsIn(line).map((call) => ({ ...call, where: "--help" })))
      ]
      const said = yield* Effect.forEach(shown, ({ args, line, where }) =>
        Effect.map(objection(args), (problem) => (problem === undefined ? [] : [`${where}: ${line}: ${problem}`]))
      )
      assert.deepStrictEqual(said.flat(), [])
      assert.isAbove(shown.length, 70)
      // What is wrong would be said.
      assert.isDefined(yield* objection(["run", "team.yaml", "--no-such-flag"]))
      assert.isDefined(yield* objection(["run", "team.yaml", "--endpoints", "endpoints.json"]))
      assert.isDefined(yield* objection(["show"]))
      assert.isDefined(yield* objection(["no-such-command"]))
    }).pipe(Effect.provide(Layer.provideMerge(files, NodeServices.layer)))
  )
})
