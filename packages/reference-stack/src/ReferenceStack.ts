/**
 * Where the built programs are. The building itself is `scripts/build.mjs`, a process of its own, so that whoever only
 * needs the files neither loads a bundler nor imports the programs.
 */
import { Effect, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"

/** The five programs of the stack, by the names under which they are installed. */
export const PROGRAMS = ["buzz", "buzz-acp", "buzz-agent", "buzz-dev-mcp", "relay-forwarder"] as const
/** One of them. */
export type ProgramName = (typeof PROGRAMS)[number]

/** The programs could not be built; `detail` is what the build printed. */
export class ReferenceStackNotBuilt extends Schema.TaggedError<ReferenceStackNotBuilt>()("ReferenceStackNotBuilt", {
  detail: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return `the reference stack could not be built: ${this.detail}`
  }
}

/** The script that prints the directory of the built programs; for callers that start it themselves. */
export const buildScript: string = fileURLToPath(new URL("../scripts/build.mjs", import.meta.url))

/**
 * The directory with the five programs, each one file of mode 0755. Builds them on first use in a checkout (two
 * seconds); afterwards and in an installed package it only looks them up. Safe to call from several processes at once.
 */
export const directory: Effect.Effect<string, ReferenceStackNotBuilt, ChildProcessSpawner.ChildProcessSpawner> =
  Effect.gen(function* () {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const child = yield* spawner.spawn(
      ChildProcess.make(process.execPath, [buildScript], { stdin: "ignore", stderr: "inherit" })
    )
    const path = (yield* Stream.mkString(Stream.decodeText(child.stdout))).trim()
    const code = yield* child.exitCode
    if (code !== 0) return yield* new ReferenceStackNotBuilt({ detail: `the build script ended with code ${code}` })
    if (!path.startsWith("/")) return yield* new ReferenceStackNotBuilt({ detail: `unexpected output: ${path}` })
    return path
  }).pipe(
    Effect.scoped,
    Effect.catchTag("PlatformError", (cause) =>
      Effect.fail(new ReferenceStackNotBuilt({ detail: `${buildScript}: ${cause.message}`, cause }))
    ),
    Effect.withSpan("ReferenceStack.directory")
  )
