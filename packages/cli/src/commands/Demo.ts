/**
 * `demo`: the example team solves its task with scripted models, offline, with real processes and a real relay.
 */
import { Effect, FileSystem, Option, Path, Result } from "effect"
import { Command } from "effect/cli"
import { CommandError, ExampleMissing } from "../CommandError.ts"
import type { EnvironmentRequest } from "../EnvironmentRequest.ts"
import { Output } from "../Output.ts"
import { importTrialCommand } from "../internal/importTrialCommand.ts"
import { parseDownload, REFERENCE_STACK, type TrialRequest } from "../TrialRequest.ts"
import { environmentFlags, toEnvironment } from "./EnvironmentFlags.ts"
import { jsonFlag, outFlag } from "./Run.ts"
import { trialFlags } from "./TrialFlags.ts"

/** Where `endpoints.json` of the example tells the scripted models to look. */
const PLAYBOOK_TARGET = "/tmp/hello-team/playbook.yaml"

/** A provider's key has to be there, and a scripted model asks nobody. */
const SCRIPTED_KEY = { SCRIPTED_API_KEY: "scripted-models-need-no-key" }

const PLACES = { Local: "sandbox", Plain: "directory", Container: "container" } as const

const introduction = ({ _tag }: EnvironmentRequest) => [
  "A team of three solves a small task on this machine: a lead, an implementer and a reviewer.",
  `Their processes are real, in a ${PLACES[_tag]} of their own; they talk over a real relay inside this command; what`,
  "their models say is written in a playbook. No network, no API key, nothing to pay.",
  ""
]

/** `buzz-orchestra demo`. */
export const demo = Command.make(
  "demo",
  { out: outFlag, downloads: trialFlags.downloads, json: jsonFlag, ...environmentFlags },
  Effect.fn("demo")(function* ({ downloads, json, out, ...flags }) {
    const environment = yield* toEnvironment("demo", flags, { _tag: "ThisMachine" })
    const wanted = yield* Effect.mapError(
      Effect.fromResult(Result.all(downloads.map(parseDownload))),
      (reason) => new CommandError({ command: "demo", reason })
    )
    const path = yield* Path.Path
    const output = yield* Output
    const example = yield* exampleDirectory
    const file = (name: string) => path.join(example, name)
    const request: TrialRequest = {
      command: "demo",
      manifest: file("manifest.yaml"),
      instruction: { file: file("instruction.md") },
      endpoints: file("endpoints.json"),
      artifactRoot: undefined,
      out: Option.getOrUndefined(out),
      stack: REFERENCE_STACK,
      relay: { _tag: "Embedded" },
      uploads: [{ source: file("playbook.yaml"), target: PLAYBOOK_TARGET }],
      downloads: wanted,
      relayGateway: undefined,
      ownerKeyVariable: undefined,
      userKeyVariable: undefined,
      readinessSeconds: undefined,
      sweep: "stack",
      knownKeys: SCRIPTED_KEY
    }
    if (!json)
      yield* output.write([...introduction(environment), `The team and its playbook: ${example}`, ""].join("\n"))
    const { execute } = yield* importTrialCommand
    yield* execute(request, { environment, json })
  })
).pipe(
  Command.withDescription("Watch a team of three solve a small task, offline, in seconds"),
  Command.withExamples([
    { command: "buzz-orchestra demo", description: "Run it and look at the bundle it leaves under trials/" },
    {
      command: "buzz-orchestra demo --download /app/hello.txt:hello.txt",
      description: "And have what the team wrote"
    },
    { command: "buzz-orchestra demo --json | jq .event", description: "The same as a stream of events" },
    {
      command: "buzz-orchestra demo --environment docker",
      description: "The same in a container made of this machine's own programs, without any image"
    }
  ])
)

/** An installed package ships the example; a checkout has it at its root. */
const exampleDirectory = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const here = yield* Effect.orDie(path.fromFileUrl(new URL(import.meta.url)))
  const packageRoot = path.resolve(path.dirname(here), "../..")
  const candidates = [
    path.join(packageRoot, "examples", "hello-team"),
    path.resolve(packageRoot, "../../examples/hello-team")
  ]
  for (const candidate of candidates) {
    const found = yield* Effect.orElseSucceed(fs.exists(path.join(candidate, "manifest.yaml")), () => false)
    if (found) return candidate
  }
  const directory = candidates[0] ?? packageRoot
  return yield* new CommandError({ command: "demo", reason: new ExampleMissing({ directory }) })
})
