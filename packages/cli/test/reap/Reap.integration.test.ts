/** `reap` with real processes: what a killed harness left is found and ended, the living keep theirs. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { HostProcess, type ProcessIdentity } from "@buzz-orchestra/runtime/docker/HostProcess"
import * as OwnedDirectory from "@buzz-orchestra/runtime/OwnedDirectory"
import * as ProcessOwner from "@buzz-orchestra/runtime/ProcessOwner"
import { ConfigProvider, Effect, FileSystem, Layer, PlatformError } from "effect"
import { Command } from "effect/cli"
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CommandError } from "../../src/CommandError.ts"
import { reap } from "../../src/commands/Reap.ts"
import { placeLines, type Thing } from "../../src/reap/Place.ts"
import { PLAIN } from "../../src/Style.ts"
import * as TestOutput from "../TestOutput.ts"

const NO_ENGINE = { DOCKER_HOST: "unix:///nowhere/docker.sock" }

/** Seconds that no other test sleeps, by which a person finds the process. */
const COMMAND = "sleep 86399"

/**
 * A host of this test alone: commands of other tests reap when they start, and take what is ours for something from elsewhere.
 * A host is known by its machine's id and its boot id; with the latter alone, others would be of an earlier boot, and gone.
 */
const HOST = randomUUID()
const HOST_FILES: ReadonlySet<string> = new Set(["/etc/machine-id", "/proc/sys/kernel/random/boot_id"])

const files = (changes: Partial<FileSystem.FileSystem> = {}) =>
  Layer.effect(
    FileSystem.FileSystem,
    FileSystem.FileSystem.useSync((inner) => ({
      ...inner,
      readFileString: (path, encoding) =>
        HOST_FILES.has(path) ? Effect.succeed(HOST) : inner.readFileString(path, encoding),
      ...changes
    }))
  ).pipe(Layer.provideMerge(NodeServices.layer))

const machine = (changes?: Partial<FileSystem.FileSystem>) =>
  Layer.mergeAll(
    Layer.provideMerge(files(changes), NodeServices.layer),
    TestOutput.layer(false),
    ConfigProvider.layer(ConfigProvider.fromUnknown(NO_ENGINE))
  )

const self = HostProcess.use((host) => Effect.succeed(host.self)).pipe(
  Effect.provide(HostProcess.layer.pipe(Layer.provide(files())))
)

/** Runs the command and returns what it wrote. */
const reaped = (...args: ReadonlyArray<string>) =>
  Effect.andThen(
    Command.runWith(reap, { version: "9.9.9" })(args),
    TestOutput.Written.use(({ stdout }) => stdout)
  ).pipe(Effect.provide(machine()))

/** This machine's identity with a process that never was. */
const dead = Effect.map(self, (it): ProcessIdentity => ({ ...it, pidStartTime: "1" }))

/** A process that belongs to this owner; the scope ends it. */
const processOf = (owner: ProcessIdentity) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const marks = ProcessOwner.toVariable({ run: "run", trial: "trial", ...owner, created: "2026-01-01T00:00:00Z" })
      return spawn("sh", ["-c", `exec ${COMMAND}`], {
        env: { PATH: process.env["PATH"] ?? "", ...marks },
        stdio: "ignore"
      })
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

const directoryOf = (owner: ProcessIdentity) =>
  Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(join(tmpdir(), OwnedDirectory.prefixOf(owner)))),
    (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
  )

describe("reap", () => {
  it.live("--dry-run says what it would end and why it would not, and then ends it", () =>
    Effect.gen(function* () {
      const orphan = yield* processOf(yield* dead)
      const living = yield* processOf(yield* self)
      const dry = yield* reaped("--dry-run")
      assert.include(dry, `would remove process ${orphan.pid} (${COMMAND}): its owner, process ${process.pid}, is gone`)
      assert.include(dry, `kept process ${living.pid} (${COMMAND}): its owner, process ${process.pid}, lives`)
      assert.isNull(orphan.signalCode)
      const wet = yield* reaped()
      assert.include(wet, `removed process ${orphan.pid} (${COMMAND})`)
      assert.notInclude(wet, `process ${living.pid} `)
      assert.match(wet, /^\d+ left alone; --dry-run says why$/m)
      assert.isNull(living.signalCode)
    }).pipe(Effect.scoped)
  )

  it.live("--json has one line for each thing, and one for an engine that is not there", () =>
    Effect.gen(function* () {
      const directory = yield* directoryOf(yield* dead)
      const events = (yield* reaped("--json"))
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
      assert.deepInclude(
        events.find(({ name }) => name === directory),
        { event: "Removed", place: "this machine", kind: "directory" }
      )
      assert.isFalse(fs.existsSync(directory))
      const engine = events.find(({ place }) => place === "the container engine")
      assert.strictEqual(engine?.["event"], "NotAsked")
      assert.match(String(engine?.["why"]), /unix:\/\/\/nowhere\/docker\.sock/)
    }).pipe(Effect.scoped)
  )

  it.live("fails when something is still there, and says what", () => {
    const stuck = machine({
      remove: (path) =>
        Effect.fail(
          PlatformError.systemError({ _tag: "Busy", module: "FileSystem", method: "remove", pathOrDescriptor: path })
        )
    })
    return Effect.gen(function* () {
      const directory = yield* directoryOf(yield* dead)
      const error = yield* Effect.flip(Command.runWith(reap, { version: "9.9.9" })([]))
      assert.instanceOf(error, CommandError)
      assert.strictEqual(error.reason._tag, "LeftoversRemain")
      const text = yield* TestOutput.Written.use(({ stdout }) => stdout)
      assert.match(
        text,
        new RegExp(`^not removed directory ${directory}: its owner, process \\d+, is gone, but .*Busy`, "m")
      )
    }).pipe(Effect.scoped, Effect.provide(stuck))
  })
})

describe("placeLines", () => {
  const thing: Thing = { kind: "process", name: "1", label: "sh\u001b[31m -c\nx", why: "its owner, process 2, is gone" }

  it("is one line for each thing, whatever it calls itself", () => {
    const lines = placeLines(
      { removed: [thing], kept: [thing], refused: [{ ...thing, detail: "no\nway" }] },
      true,
      PLAIN
    )
    assert.deepStrictEqual(lines, [
      "would remove process 1 (sh -c x): its owner, process 2, is gone",
      "not removed process 1 (sh -c x): its owner, process 2, is gone, but no way",
      "kept process 1 (sh -c x): its owner, process 2, is gone"
    ])
  })
})
