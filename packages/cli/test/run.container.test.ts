/** The flags of `run` that say in which container a trial runs, with the reference stack and images made here. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { SUMMARY } from "@buzz-orchestra/runtime/BundleFiles"
import { assert, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import * as fs from "node:fs"
import { type AddressInfo, connect, createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { canMake } from "../../runtime/test/docker/images/TestImages.ts"
import { docker, image, testEngine } from "../../runtime/test/docker/support/engine.ts"
import * as ReferenceStackFiles from "../src/ReferenceStackFiles.ts"
import { containerTests, leftOf, ownBundle } from "./containerTests.ts"
import { eventually, type HarnessProcess, ROOT, start } from "./HarnessProcess.ts"
import { read, SECONDS, TEST_LIMIT } from "./trialFiles.ts"

const example = (name: string): string => join(ROOT, "examples/hello-team", name)

/** The example's team, with this manifest and these further arguments. */
const run = (
  out: string,
  args: ReadonlyArray<string>,
  manifest = example("manifest.yaml"),
  env: Readonly<Record<string, string>> = {}
): Effect.Effect<HarnessProcess, never, Scope.Scope> => {
  const files = [manifest, "--artifact-root", example(""), "--endpoints", example("endpoints.json")]
  const task = ["--instruction-file", example("instruction.md")]
  const upload = ["--upload", `${example("playbook.yaml")}:/tmp/hello-team/playbook.yaml`]
  const where = ["--environment", "docker", "--json", "--out", out, ...args]
  return start(["run", ...files, ...task, ...upload, ...where], { env: { SCRIPTED_API_KEY: "scripted-key", ...env } })
}

interface ContainerSummary {
  readonly limits: Readonly<Record<string, number | null>>
  readonly network: string
  readonly user: string
  readonly image: { readonly reference: string }
  readonly time_limit_seconds: number | null
}

const summaryOf = (out: string) =>
  JSON.parse(read(join(out, SUMMARY))) as {
    readonly outcome: string | null
    readonly error: { readonly message: string } | null
    readonly relay_url: string
    readonly relay_probe: { readonly result: string } | null
    readonly agent_users: Readonly<Record<string, unknown>> | null
    readonly warnings: ReadonlyArray<string>
    readonly stack: Readonly<Record<string, string>>
    readonly environment: { readonly name: string; readonly container: ContainerSummary }
  }

/** The example's manifest with an environment block. */
const limitedManifest = (directory: string): string => {
  const path = join(directory, "manifest.yaml")
  const limits = "environment: { override_cpus: 2, override_memory_mb: 900 }\n"
  fs.writeFileSync(path, `${limits}${read(example("manifest.yaml"))}`)
  return path
}

/** The engine of the tests behind a TCP port, where nobody can tell that it is on this machine; its address. */
const engineByTcp = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const path = "endpoint" in testEngine ? testEngine.endpoint.path : ""
    const server = createServer({ allowHalfOpen: true }, (client) => {
      const upstream = connect({ path, allowHalfOpen: true })
      for (const [socket, other] of [
        [client, upstream],
        [upstream, client]
      ] as const)
        socket.on("error", () => other.destroy()).pipe(other)
    })
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close())
).pipe(Effect.map((server) => `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`))

/** The reference stack with a Node, and without a forwarder. */
const stackWithoutForwarder = Effect.gen(function* () {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(join(tmpdir(), "stack-"))),
    (made) => Effect.sync(() => fs.rmSync(made, { recursive: true }))
  )
  const reference = yield* ReferenceStackFiles.locate(process.execPath, "test")
  for (const name of ["buzz", "buzz-acp", "buzz-agent", "buzz-dev-mcp"])
    fs.symlinkSync(join(reference, name), join(directory, name))
  fs.symlinkSync(process.execPath, join(directory, "node"))
  return directory
}).pipe(Effect.provide(NodeServices.layer))

containerTests("run in a container", () => {
  it.live.skipIf(!canMake.bash)(
    "of a Dockerfile directory shows the build, has the manifest's limits unless a flag says otherwise, and the relay without any network",
    () =>
      Effect.gen(function* () {
        const out = yield* ownBundle
        const directory = fs.mkdtempSync(join(dirname(out), "task-"))
        const base = yield* image("node")
        // No two runs of this test build the same content.
        fs.writeFileSync(join(directory, "given.txt"), out)
        fs.writeFileSync(
          join(directory, "Dockerfile"),
          [
            `FROM ${base}`,
            "COPY given.txt /given.txt",
            "RUN mkdir /work && chown 1000 /work",
            "WORKDIR /work",
            ""
          ].join("\n")
        )
        const flags = [
          "--dockerfile",
          directory,
          "--memory",
          "700",
          "--pids",
          "512",
          "--user",
          "1000:1000",
          "--network",
          "none",
          "--agent-users",
          "auto"
        ]
        const harness = yield* run(out, flags, limitedManifest(dirname(out)))
        assert.strictEqual(yield* harness.ended, 0, harness.stdout() + harness.stderr())
        assert.include(harness.stderr(), "COPY given.txt /given.txt")
        const { agent_users: users, environment, outcome, relay_url: relayUrl, stack } = summaryOf(out)
        yield* Effect.addFinalizer(() =>
          Effect.promise(() => docker.getImage(environment.container.image.reference).remove())
        )
        assert.strictEqual(outcome, "done")
        assert.match(relayUrl, /^ws:\/\/127\.0\.0\.1:\d+$/)
        assert.deepInclude(environment.container, {
          limits: { cpus: 2, memory_mb: 700, storage_mb: null, pids: 512 },
          network: "none",
          user: "1000:1000"
        })
        assert.property(stack, "node")
        assert.deepInclude(users, { asked: "auto", held: "image", uids: {} })
        assert.match(`${users?.["reason"]}`, /its user is 1000/)
        assert.deepStrictEqual(yield* leftOf(out), [])
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )

  it.live.skipIf(!canMake.bash)(
    "that exists leaves it running, with nothing of the trial in it",
    () =>
      Effect.gen(function* () {
        const out = yield* ownBundle
        const Image = yield* image("node")
        const existing = yield* Effect.acquireRelease(
          Effect.promise(() => docker.createContainer({ Image, Cmd: ["sleep", "1000"] })),
          (container) => Effect.promise(() => container.remove({ force: true }))
        )
        yield* Effect.promise(() => existing.start())
        const harness = yield* run(
          out,
          ["--container", existing.id, "--agent-users", "own"],
          limitedManifest(dirname(out))
        )
        assert.strictEqual(yield* harness.ended, 0, harness.stdout() + harness.stderr())
        assert.include(harness.stderr(), "environment block are not applied: the container exists and has its own")
        const { agent_users: users, environment } = summaryOf(out)
        assert.isNull(environment.container.time_limit_seconds)
        assert.deepInclude(users, { asked: "own", held: "own", reason: null })
        const { State } = yield* Effect.promise(() => existing.inspect())
        assert.isTrue(State.Running)
        const { Processes } = yield* Effect.promise(() => existing.top())
        assert.deepStrictEqual(
          Processes.map((columns: ReadonlyArray<string>) => columns.at(-1)),
          ["sleep 1000"]
        )
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )

  it.live.skipIf(!canMake.bash)(
    "whose network cannot be entered has the relay at the gateway, under the URL that agents dial",
    () =>
      Effect.gen(function* () {
        const out = yield* ownBundle
        const flags = ["--image", yield* image("node"), "--stack", yield* stackWithoutForwarder]
        const harness = yield* run(out, flags, example("manifest.yaml"), { DOCKER_HOST: yield* engineByTcp })
        assert.strictEqual(yield* harness.ended, 0, harness.stdout() + harness.stderr())
        const { outcome, relay_url: relayUrl, warnings } = summaryOf(out)
        assert.strictEqual(outcome, "done")
        assert.match(relayUrl, /^ws:\/\/host\.(docker|containers)\.internal:\d+$/)
        assert.deepStrictEqual(warnings, [])
        assert.deepStrictEqual(yield* leftOf(out), [])
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )

  it.live("of an image that the engine does not have says so and what to do", () =>
    Effect.gen(function* () {
      const out = yield* ownBundle
      const harness = yield* run(out, ["--image", "no-such-image:1"])
      assert.strictEqual(yield* harness.ended, 21, harness.stderr())
      assert.match(harness.stderr(), /has no image no-such-image:1; pull or build it first/)
      assert.deepInclude(harness.events().at(-1), { event: "Exited", exitCode: 21 })
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!canMake.bash)("asks a relay from inside, and says through what it did not answer", () =>
    Effect.gen(function* () {
      const relay = yield* start(["relay", "serve"])
      const url = yield* eventually("its address", SECONDS, relay, () => /ws:\S+/.exec(relay.stdout())?.[0])
      const out = yield* ownBundle
      // Nobody may enter this container's network, and it has none that leads anywhere.
      const where = ["--image", yield* image("node"), "--network", "none", "--relay", url]
      const harness = yield* run(out, where, example("manifest.yaml"), { DOCKER_HOST: yield* engineByTcp })
      assert.strictEqual(yield* harness.ended, 62, harness.stderr())
      const { error } = summaryOf(out)
      assert.match(error?.message ?? "", /the relay at ws:\S+ does not answer programs in container buzz-.*refused/)
      assert.strictEqual(summaryOf(out).outcome, null)
      assert.deepStrictEqual(yield* leftOf(out), [])
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!canMake.bash)(
    "reaches a relay on this machine's loopback through the gateway, under the relay's own address",
    () =>
      Effect.gen(function* () {
        const relay = yield* start(["relay", "serve"])
        const url = yield* eventually("its address", SECONDS, relay, () => /ws:\S+/.exec(relay.stdout())?.[0])
        const out = yield* ownBundle
        const where = ["--image", yield* image("node"), "--relay", url]
        const harness = yield* run(out, where, example("manifest.yaml"), { DOCKER_HOST: yield* engineByTcp })
        assert.strictEqual(yield* harness.ended, 0, harness.stdout() + harness.stderr())
        const { outcome, relay_probe: probe, relay_url: relayUrl } = summaryOf(out)
        assert.deepStrictEqual([outcome, relayUrl, probe?.result], ["done", url, "handshake"])
        assert.deepStrictEqual(yield* leftOf(out), [])
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )
})

containerTests("a harness in whose container agents work", () => {
  it.live.skipIf(!canMake.bash)(
    "leaves a container for the next one when it is killed, and nothing when it is stopped",
    () =>
      Effect.gen(function* () {
        const reference = yield* image("node")
        const working = Effect.fnUntraced(function* (out: string) {
          const harness = yield* run(out, ["--image", reference, "--network", "none"])
          yield* eventually("the first message", SECONDS, harness, () =>
            harness.events().find(({ event }) => event === "MessageSeen")
          )
          return harness
        })
        const killed = yield* ownBundle
        const first = yield* working(killed)
        first.kill("SIGKILL")
        assert.strictEqual(yield* first.ended, "SIGKILL")

        const stopped = yield* ownBundle
        const next = yield* working(stopped)
        assert.deepStrictEqual(yield* leftOf(killed), [])
        assert.match(next.stderr(), /removed container buzz-trial-/)
        next.kill("SIGINT")
        assert.strictEqual(yield* next.ended, 130, next.stderr())
        assert.deepStrictEqual(yield* leftOf(stopped), [])
        assert.strictEqual(summaryOf(stopped).outcome, "interrupted")
      }).pipe(Effect.scoped),
    TEST_LIMIT
  )
})
