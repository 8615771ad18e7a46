/**
 * `manifest check|hash|show|schema`: what a manifest says, and who it is, without running anything.
 */
import type { Condition } from "@buzz-orchestra/manifest/Condition"
import { Dialect } from "@buzz-orchestra/manifest/Dialect"
import { endpointsJsonSchema, fixtureJsonSchema, manifestJsonSchema } from "@buzz-orchestra/manifest/ManifestJsonSchema"
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import { Console, Effect, Option, Path } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { warningLine } from "../Failure.ts"
import { count, padEnd, width } from "../internal/terminalText.ts"
import { Output } from "../Output.ts"
import { PLAIN } from "../Style.ts"

const file = Argument.Path("file").pipe(Argument.withDescription("A manifest in YAML or JSON"))

const dialect = Flag.Literals("dialect", Dialect.literals).pipe(
  Flag.withDescription("Read it as this line of the format. Default: found from what the file uses"),
  Flag.optional
)

const load = Effect.fnUntraced(function* (path: string, dialect: Option.Option<Dialect>) {
  const manifests = yield* ManifestService
  return yield* manifests.load(path, Option.isSome(dialect) ? { dialect: dialect.value } : {})
})

/** Prints the warnings of a condition to stderr, where they do not mix with what was asked for. */
export const printWarnings = (condition: Condition): Effect.Effect<void> =>
  Effect.forEach(condition.warnings, (warning) => Console.error(warningLine(warning, condition.source, PLAIN)), {
    discard: true
  })

const check = Command.make(
  "check",
  {
    file,
    dialect,
    artifactRoot: Flag.Directory("artifact-root", { mustExist: true }).pipe(
      Flag.withDescription("Also verify the pinned files, relative to this directory"),
      Flag.optional
    )
  },
  Effect.fn("manifest.check")(function* ({ artifactRoot, dialect, file }) {
    const condition = yield* load(file, dialect)
    if (Option.isSome(artifactRoot)) yield* verifyArtifacts(condition, artifactRoot.value)
    yield* printWarnings(condition)
    yield* Console.log(`${file}: ok (${condition.manifest.condition}, ${condition.dialect}, ${condition.sha256})`)
  })
).pipe(
  Command.withDescription("Say whether a manifest is valid, with every problem at once"),
  Command.withExamples([
    { command: "buzz-orchestra manifest check team.yaml", description: "Check the fields and rules" },
    {
      command: "buzz-orchestra manifest check team.yaml --artifact-root .",
      description: "Check that the pinned prompts are the pinned ones, too"
    }
  ])
)

const verifyArtifacts = Effect.fnUntraced(function* (condition: Condition, root: string) {
  const manifests = yield* ManifestService
  const path = yield* Path.Path
  yield* Effect.forEach(
    condition.manifest.roster.flatMap(({ persona, prompt, skills }) => [
      prompt,
      ...(persona === null ? [] : [persona]),
      ...skills
    ]),
    (ref) => manifests.verifyArtifact(path.resolve(root), ref),
    { discard: true }
  )
})

const hash = Command.make(
  "hash",
  { file, dialect },
  Effect.fn("manifest.hash")(function* ({ dialect, file }) {
    const condition = yield* load(file, dialect)
    yield* Console.log(condition.sha256)
  })
).pipe(
  Command.withDescription("Print the identity of the condition: 64 hex digits and nothing else"),
  Command.withExamples([
    { command: "buzz-orchestra manifest hash team.yaml", description: "The condition's sha256" },
    { command: "buzz-orchestra manifest hash team.yaml --dialect study", description: "Read as the study dialect" }
  ])
)

const show = Command.make(
  "show",
  {
    file,
    dialect,
    canonical: Flag.Boolean("canonical").pipe(
      Flag.withDescription("Print the canonical bytes that are hashed, without a line feed"),
      Flag.withDefault(false)
    )
  },
  Effect.fn("manifest.show")(function* ({ canonical, dialect, file }) {
    const condition = yield* load(file, dialect)
    if (canonical) {
      const output = yield* Output
      return yield* output.write(condition.canonical).pipe(Effect.andThen(output.flush))
    }
    yield* printWarnings(condition)
    yield* Effect.forEach(showLines(condition), (line) => Console.log(line), { discard: true })
  })
).pipe(
  Command.withDescription("Print what a manifest says, defaults filled in"),
  Command.withExamples([
    { command: "buzz-orchestra manifest show team.yaml", description: "Team, models, prices and budget" },
    {
      command: "buzz-orchestra manifest show team.yaml --canonical | sha256sum",
      description: "Recompute the identity with other tools"
    }
  ])
)

const SCHEMAS = { manifest: manifestJsonSchema, endpoints: endpointsJsonSchema, fixture: fixtureJsonSchema }

const schema = Command.make(
  "schema",
  {
    of: Argument.Literals("of", ["manifest", "endpoints", "fixture"]).pipe(
      Argument.withDescription("Of which file"),
      Argument.withDefault("manifest" as const)
    )
  },
  Effect.fn("manifest.schema")(function* ({ of }) {
    yield* Console.log(JSON.stringify(SCHEMAS[of](), undefined, 2))
  })
).pipe(
  Command.withDescription(
    "Print the JSON Schema of a manifest, of an endpoints file or of a task's fixture, for editors"
  ),
  Command.withExamples([
    { command: "buzz-orchestra manifest schema > manifest.schema.json", description: "For a YAML language server" },
    { command: "buzz-orchestra manifest schema endpoints", description: "Of the endpoints file" }
  ])
)

/** A condition on a page. */
export const showLines = (condition: Condition): ReadonlyArray<string> => {
  const { manifest } = condition
  const { max_cost_usd: cost, timeout_seconds: timeout } = manifest.trial_budget
  return [
    ...table([
      ["condition", manifest.condition],
      ["sha256", condition.sha256],
      ["dialect", condition.dialect],
      ["budget", `${count(timeout)} s${cost === null ? "" : `, ${cost} USD`}`]
    ]),
    "",
    ...table([
      ["agents", "kind", "role", "endpoint", "prompt"],
      ...manifest.roster.map((seat) => [
        seat.count === 1 ? `${seat.id}-1` : `${seat.id}-1 … ${seat.id}-${seat.count}`,
        seat.kind,
        seat.role,
        seat.endpoint,
        seat.prompt.path
      ])
    ]),
    "",
    ...table([
      ["endpoint", "input", "cached", "output", "USD per million tokens"],
      ...Object.entries(manifest.prices).map(([endpoint, price]) => [
        endpoint,
        String(price.input_per_million_usd),
        String(price.cached_input_per_million_usd),
        String(price.output_per_million_usd)
      ])
    ])
  ]
}

const table = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const widths = rows.reduce<ReadonlyArray<number>>(
    (widest, row) => row.map((cell, column) => Math.max(widest[column] ?? 0, width(cell))),
    []
  )
  return rows.map((row) =>
    row
      .map((cell, column) => padEnd(cell, widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  )
}

/** `buzz-orchestra manifest`. */
export const manifest = Command.make("manifest").pipe(
  Command.withDescription("Check, identify and show manifests"),
  Command.withSubcommands([check, hash, show, schema])
)
