/** Every reason for which a command refuses before anything is started, from the files and variables that cause it. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Layer, Path, Result } from "effect"
import { Command } from "effect/cli"
import { createServer, type Server } from "node:net"
import { CommandError, type UsageInvalid } from "../../src/CommandError.ts"
import { demo } from "../../src/commands/Demo.ts"
import * as LocalRelay from "../../src/LocalRelay.ts"
import { services } from "../../src/Main.ts"
import * as ReferenceStackFiles from "../../src/ReferenceStackFiles.ts"
import { Stopping, StoppingRef } from "../../src/Stopping.ts"
import * as TrialInputs from "../../src/TrialInputs.ts"
import * as TestOutput from "../TestOutput.ts"
import { parseInstruction, parseRelay, parseUpload, type TrialRequest } from "../../src/TrialRequest.ts"

const layersWith = (variables: Readonly<Record<string, string>>) =>
  Layer.mergeAll(services, NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromUnknown(variables)))

const stopping = Layer.sync(StoppingRef, () => new Stopping())

const KEYS = { SCRIPTED_API_KEY: "scripted-key" }

/** A program that stands in for the Node that builds the reference stack. */
const fixture = (name: string) =>
  Path.Path.use((path) => Effect.orDie(path.fromFileUrl(new URL(`../fixtures/bin/${name}`, import.meta.url))))

/** Why a request for the example's team is refused, but for what a test changes of it. */
const refusal = Effect.fnUntraced(function* (fields: Partial<TrialRequest>, node = process.execPath) {
  const path = yield* Path.Path
  const example = yield* Effect.orDie(path.fromFileUrl(new URL("../../../../examples/hello-team/", import.meta.url)))
  const request: TrialRequest = {
    command: "run",
    manifest: `${example}manifest.yaml`,
    instruction: { text: "do it" },
    endpoints: `${example}endpoints.json`,
    artifactRoot: undefined,
    out: undefined,
    stack: example,
    relay: { _tag: "Embedded" },
    uploads: [],
    relayGateway: undefined,
    ownerKeyVariable: undefined,
    userKeyVariable: undefined,
    readinessSeconds: undefined,
    sweep: "stack",
    ...fields
  }
  const error = yield* Effect.flip(TrialInputs.read(request, node))
  assert.instanceOf(error, CommandError)
  return error.reason
})

describe("a command line", () => {
  it("whose flags do not fit together is refused with what to type instead", () => {
    const results: ReadonlyArray<Result.Result<unknown, UsageInvalid>> = [
      parseUpload("data.csv"),
      parseInstruction("do it", "task.md"),
      parseInstruction(undefined, undefined),
      parseRelay(undefined, "http://localhost:3600")
    ]
    for (const result of results) {
      const reason = Result.isFailure(result) ? result.failure : undefined
      assert.strictEqual(reason?._tag, "UsageInvalid")
      assert.match(reason?.instead ?? "", /^give /)
    }
  })
})

describe("a request", () => {
  it.effect("with an instruction file that is not there is refused", () =>
    Effect.gen(function* () {
      const reason = yield* refusal({ instruction: { file: "/no/such/task.md" } })
      assert.deepInclude(reason, { _tag: "InstructionUnreadable", file: "/no/such/task.md" })
    }).pipe(Effect.provide(layersWith(KEYS)))
  )

  it.effect("names every variable of an API key that is missing, and takes an empty one for none", () =>
    Effect.gen(function* () {
      const reason = yield* refusal({})
      assert.strictEqual(reason._tag, "ApiKeyVariablesMissing")
      const missing = reason._tag === "ApiKeyVariablesMissing" ? reason.missing : []
      assert.deepStrictEqual(missing, [{ endpoint: "scripted/hello-team", variable: "SCRIPTED_API_KEY" }])
    }).pipe(Effect.provide(layersWith({ SCRIPTED_API_KEY: " " })))
  )

  it.effect("that names a variable without a value for a key is refused", () =>
    Effect.gen(function* () {
      const reason = yield* refusal({ ownerKeyVariable: "NO_SUCH_KEY" })
      assert.deepInclude(reason, { _tag: "SecretVariableMissing", flag: "--owner-key-env", variable: "NO_SUCH_KEY" })
    }).pipe(Effect.provide(layersWith(KEYS)))
  )

  it.effect("that names a variable with something else than a key is refused, and its value is not repeated", () =>
    Effect.gen(function* () {
      const reason = yield* refusal({ userKeyVariable: "BAD_KEY" })
      assert.deepInclude(reason, { _tag: "SecretVariableInvalid", flag: "--user-key-env", variable: "BAD_KEY" })
      assert.notInclude(JSON.stringify(reason), "not-a-key")
    }).pipe(Effect.provide(layersWith({ ...KEYS, BAD_KEY: "not-a-key" })))
  )

  it.effect("to write over a bundle is refused", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const out = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${out}/summary.json`, "{}")
      assert.deepInclude(yield* refusal({ out }), { _tag: "DirectoryNotEmpty", directory: out })
    }).pipe(Effect.scoped, Effect.provide(layersWith(KEYS)))
  )

  it.effect("to upload what is not there is refused", () =>
    Effect.gen(function* () {
      const reason = yield* refusal({ uploads: [{ source: "/no/such/file", target: "/app/file" }] })
      assert.deepInclude(reason, { _tag: "UploadMissing", source: "/no/such/file" })
    }).pipe(Effect.provide(layersWith(KEYS)))
  )

  it.effect("for a stack that is not there is refused", () =>
    Effect.gen(function* () {
      const reason = yield* refusal({ stack: "/no/such/stack" })
      assert.deepInclude(reason, { _tag: "StackDirectoryMissing", directory: "/no/such/stack" })
    }).pipe(Effect.provide(layersWith(KEYS)))
  )

  it.effect("for a reference stack that cannot be built is refused", () =>
    Effect.gen(function* () {
      const absent = yield* refusal({ stack: "reference" }, "/no/such/node")
      assert.strictEqual(absent._tag, "ReferenceStackUnavailable")
      const failing = yield* refusal({ stack: "reference" }, yield* fixture("failing-node"))
      assert.deepInclude(failing, {
        _tag: "ReferenceStackUnavailable",
        detail: "the build script ended with code 3\nENOSPC: no space left on device"
      })
      const silent = yield* refusal({ stack: "reference" }, "/bin/true")
      assert.deepInclude(silent, { detail: "the build script printed no directory" })
    }).pipe(Effect.provide(layersWith(KEYS)))
  )

  it.effect("takes the reference stack's directory from what its build script prints last, whatever it warns of", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* ReferenceStackFiles.locate(yield* fixture("warning-node"), "run"), "/a/stack")
    }).pipe(Effect.provide(layersWith(KEYS)))
  )
})

describe("an installation", () => {
  it.effect("without the files of the demo says where it looked for them", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const bare: FileSystem.FileSystem = { ...fs, exists: () => Effect.succeed(false) }
      const run = Effect.provideService(Command.runWith(demo, { version: "9.9.9" })([]), FileSystem.FileSystem, bare)
      const error = yield* Effect.flip(run)
      assert.instanceOf(error, CommandError)
      assert.strictEqual(error.reason._tag, "ExampleMissing")
    }).pipe(Effect.provide(Layer.mergeAll(layersWith({}), TestOutput.layer(false), stopping)))
  )
})

describe("the embedded relay", () => {
  it.live("that finds its port taken is refused", () =>
    Effect.gen(function* () {
      const port = yield* takenPort
      const error = yield* Effect.flip(Layer.build(LocalRelay.layer(port, "relay serve")))
      assert.deepInclude(error.reason, { _tag: "RelayNotServed", port })
    }).pipe(Effect.scoped)
  )

  it.live("whose data another relay uses is refused", () =>
    Effect.gen(function* () {
      const data = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
      const serve = Layer.build(LocalRelay.layerAt({ host: "127.0.0.1", port: 0, urls: () => [], data }, "relay serve"))
      yield* serve
      const error = yield* Effect.flip(serve)
      assert.deepInclude(error.reason, { _tag: "RelayDataUnusable", directory: data, detail: "another relay uses it" })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

/** A port on which somebody listens as long as the scope is open. */
const takenPort = Effect.map(
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer().listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => void server.close())
  ),
  (server) => {
    const address = server.address()
    return typeof address === "object" ? (address?.port ?? 0) : 0
  }
)
