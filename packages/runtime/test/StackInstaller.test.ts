import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { rootCertificates } from "node:tls"
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { DEFAULT_LAYOUT } from "@buzz-orchestra/runtime/Layout"
import { FORWARDER, fromDirectory, type StackFiles } from "@buzz-orchestra/runtime/StackFiles"
import { StackInstaller } from "@buzz-orchestra/runtime/StackInstaller"
import * as StackInstallerLive from "@buzz-orchestra/runtime/StackInstallerLive"
import {
  type Answer,
  exited,
  RecordingEnvironment,
  type RecordingOptions
} from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path } from "effect"

const { bin, caBundle } = DEFAULT_LAYOUT

const layer = (environment?: RecordingOptions) =>
  StackInstallerLive.layer.pipe(
    Layer.provideMerge(TestStack.layer),
    Layer.provideMerge(RecordingEnvironment.layer(environment)),
    Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer))
  )

/** A stack directory with these files, executable but for `plain`. The scope removes it. */
const stackOf = Effect.fnUntraced(function* (
  files: Readonly<Record<string, string | Uint8Array>>,
  plain: ReadonlyArray<string> = []
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* fs.makeTempDirectoryScoped()
  yield* Effect.forEach(Object.entries(files), ([name, content]) => {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
    return fs.writeFile(path.join(directory, name), bytes, { mode: plain.includes(name) ? 0o644 : 0o755 })
  })
  return yield* fromDirectory(directory)
})

const STACK = { "buzz-acp": "#!acp", "buzz-agent": "#!agent", "buzz-dev-mcp": "#!mcp" }

/** \`printf '#!acp' | sha256sum\` */
const ACP_DIGEST = "22ad2ee7585914241dc1c548abbce26c30e03895e286f0863729d4f6b53a72cb"

/** What the command that makes the layout prints. */
const layoutSays =
  (stdout: string): Answer =>
  (command) =>
    command.startsWith("mkdir -p") ? exited(0, { stdout }) : undefined

const install = (files: StackFiles) => StackInstaller.use((installer) => installer.install(files))
const refusal = (files: StackFiles) => Effect.map(Effect.flip(install(files)), ({ reason }) => reason)
const uploads = Effect.map(
  RecordingEnvironment.use(({ journal }) => journal),
  (journal) => journal.filter((entry) => entry._tag === "Uploaded")
)

/** The head of an ELF file for x86-64 (`e_machine` 62). */
const elf = (machine: number): Uint8Array => {
  const head = new Uint8Array(64)
  head.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  head[18] = machine
  return head
}

const withoutTools: Answer = (command) => (command.includes("sha256sum") ? exited(127) : undefined)

describe("StackInstaller", () => {
  it.effect("uploads the pinned stack, executable, and says what it found inside", () =>
    Effect.gen(function* () {
      const installed = yield* install(yield* stackOf({ ...STACK, [FORWARDER]: "#!forwarder", extra: "#!extra" }))
      const programs = (yield* uploads).filter(({ target }) => target.startsWith(`${bin}/`))
      assert.deepStrictEqual(
        programs.map(({ target }) => target).toSorted(),
        ["buzz-acp", "buzz-agent", "buzz-dev-mcp", "extra", FORWARDER].map((name) => `${bin}/${name}`)
      )
      assert.isTrue(programs.every(({ mode }) => mode === 0o755))
      assert.strictEqual(installed.layout.root, "/opt/buzz")
      assert.strictEqual(installed.digests["buzz-acp"], ACP_DIGEST)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("names every missing program before anything is uploaded", () =>
    Effect.gen(function* () {
      const reason = yield* refusal(yield* stackOf({ "buzz-agent": "#!agent" }))
      if (reason._tag !== "BinaryMissing") return assert.fail(reason._tag)
      assert.deepStrictEqual(
        reason.missing.map(({ name, path }) => [name, path.endsWith(`/${name}`)]),
        [
          ["buzz-acp", true],
          ["buzz-dev-mcp", true]
        ]
      )
      assert.match(reason.message, /binary not found/)
      assert.match(reason.message, /buzz-acp.*buzz-dev-mcp/)
      assert.deepStrictEqual(yield* RecordingEnvironment.use(({ journal }) => journal), [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("treats a stack directory that is not there as one without programs", () =>
    Effect.gen(function* () {
      const reason = yield* refusal(yield* fromDirectory("/no/such/stack"))
      assert.strictEqual(reason._tag, "BinaryMissing")
      assert.match(reason.message, /\/no\/such\/stack\/buzz-acp/)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("names every required program that may not be executed, and takes nothing else for a program", () =>
    Effect.gen(function* () {
      const others = { [FORWARDER]: "#!forwarder", "package.json": "{}", "README.md": "text", extra: "#!extra" }
      const plain = ["buzz-agent", FORWARDER, "package.json", "README.md"]
      const files = yield* stackOf({ ...STACK, ...others }, plain)
      assert.deepStrictEqual(Object.keys(files.programs).toSorted(), [...Object.keys(STACK), "extra"].toSorted())
      const reason = yield* refusal(files)
      if (reason._tag !== "BinaryNotExecutable") return assert.fail(reason._tag)
      assert.deepStrictEqual(
        reason.programs.map(({ name }) => name),
        ["buzz-agent", FORWARDER]
      )
      assert.match(reason.message, /chmod \+x \/.*\/buzz-agent \/.*\/relay-forwarder$/)
      assert.deepStrictEqual(yield* uploads, [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("refuses a program of another architecture", () =>
    Effect.gen(function* () {
      const reason = yield* refusal(yield* stackOf({ ...STACK, "buzz-acp": elf(183) }))
      assert.strictEqual(reason._tag, "ArchitectureMismatch")
      assert.match(reason.message, /buzz-acp.*aarch64.*x86_64/)
      assert.deepStrictEqual(yield* uploads, [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("takes a program of the environment's architecture", () =>
    Effect.gen(function* () {
      yield* install(yield* stackOf({ ...STACK, "buzz-acp": elf(62) }))
      assert.isAbove((yield* uploads).length, 0)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("ships Node's own root certificates, outside of bin and not executable", () =>
    Effect.gen(function* () {
      yield* install(yield* stackOf(STACK))
      const bundle = (yield* uploads).find(({ target }) => target === caBundle)
      assert.strictEqual(bundle?.mode, 0o644)
      assert.isFalse(caBundle.startsWith(`${bin}/`))
      const text = new TextDecoder().decode(bundle?.content as Uint8Array)
      assert.strictEqual(text.match(/-----BEGIN CERTIFICATE-----/g)?.length, rootCertificates.length)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("ships the stack's own certificates when it has some", () =>
    Effect.gen(function* () {
      yield* install(yield* stackOf({ ...STACK, "ca-certificates.crt": "own bundle" }))
      const bundle = (yield* uploads).find(({ target }) => target === caBundle)
      assert.strictEqual(new TextDecoder().decode(bundle?.content as Uint8Array), "own bundle")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("needs the certificates it was told to use", () =>
    Effect.gen(function* () {
      const files = yield* stackOf(STACK)
      const reason = yield* refusal({ ...files, caBundle: "/no/such/bundle.pem" })
      assert.strictEqual(reason._tag, "CaBundleMissing")
      assert.match(reason.message, /CA bundle not found/)
      assert.deepStrictEqual(yield* uploads, [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("chooses another root when /opt/buzz cannot be written", () =>
    Effect.gen(function* () {
      const installed = yield* install(yield* stackOf(STACK))
      assert.strictEqual(installed.layout.root, "/tmp/home/.buzz")
      assert.isTrue((yield* uploads).every(({ target }) => target.startsWith("/tmp/home/.buzz/")))
    }).pipe(
      Effect.provide(
        layer({
          answers: [
            (command) =>
              command.startsWith("mkdir -p '/opt/buzz") ? exited(1, { stderr: "Read-only file system" }) : undefined
          ]
        })
      )
    )
  )

  it.effect("says which roots it tried when none can be written", () =>
    Effect.gen(function* () {
      const reason = yield* refusal(yield* stackOf(STACK))
      assert.strictEqual(reason._tag, "LayoutNotWritable")
      assert.match(reason.message, /\/opt\/buzz or \/tmp\/home\/\.buzz.*Read-only file system/)
    }).pipe(
      Effect.provide(
        layer({
          answers: [
            (command) => (command.startsWith("mkdir -p") ? exited(1, { stderr: "Read-only file system" }) : undefined)
          ]
        })
      )
    )
  )

  it.effect("needs bash, which the agents' shell tool runs every command with", () =>
    Effect.gen(function* () {
      const reason = yield* refusal(yield* stackOf(STACK))
      assert.strictEqual(reason._tag, "BashMissing")
    }).pipe(
      Effect.provide(
        layer({
          answers: [layoutSays("no bash\n")]
        })
      )
    )
  )

  it.effect("uploads no program that lies there already, and one whose bytes differ", () =>
    Effect.gen(function* () {
      const environment = yield* RecordingEnvironment
      yield* environment.answer(layoutSays("have buzz-acp\nhave buzz-agent\n"))
      const files = yield* stackOf(STACK)
      yield* environment.answer((command) =>
        command.includes("sha256sum 'buzz-acp' 'buzz-agent'")
          ? exited(0, { stdout: `${ACP_DIGEST}  buzz-acp\n${"0".repeat(64)}  buzz-agent\n` })
          : undefined
      )
      const installed = yield* install(files)
      const programs = (yield* uploads).map(({ target }) => target).filter((target) => target.startsWith(`${bin}/`))
      assert.deepStrictEqual(programs.toSorted(), [`${bin}/buzz-agent`, `${bin}/buzz-dev-mcp`])
      assert.strictEqual(installed.digests["buzz-acp"], ACP_DIGEST)
      assert.deepStrictEqual(Object.keys(installed.digests).toSorted(), Object.keys(STACK).toSorted())
    }).pipe(Effect.provide(layer()))
  )

  it.effect("uses a directory of programs that nobody can write only when every program is in it", () =>
    Effect.gen(function* () {
      const environment = yield* RecordingEnvironment
      yield* environment.answer((command) =>
        command.startsWith("mkdir -p '/opt/buzz") ? exited(0, { stdout: "have buzz-acp\nclosed\n" }) : undefined
      )
      yield* environment.answer((command) =>
        command.includes("sha256sum 'buzz-acp'\n") ? exited(0, { stdout: `${ACP_DIGEST}  buzz-acp\n` }) : undefined
      )
      const installed = yield* install(yield* stackOf(STACK))
      assert.strictEqual(installed.layout.root, "/tmp/home/.buzz")
      const all = { programs: { "buzz-acp": (yield* stackOf(STACK)).programs["buzz-acp"] ?? "" } }
      assert.strictEqual((yield* install(all)).layout.root, "/opt/buzz")
    }).pipe(Effect.provide(layer()))
  )

  it.effect("notices an upload that is not there afterwards", () =>
    Effect.gen(function* () {
      const environment = yield* RecordingEnvironment
      yield* environment.answer((command) => (command.includes("sha256sum") ? exited(0) : undefined))
      const reason = yield* refusal(yield* stackOf(STACK))
      assert.strictEqual(reason._tag, "UploadNotThere")
      assert.match(reason.message, /\/opt\/buzz\/bin\/buzz-acp/)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("notices bytes that changed on the way", () =>
    Effect.gen(function* () {
      const environment = yield* RecordingEnvironment
      const line = `${"0".repeat(64)}  buzz-acp\n`
      yield* environment.answer((command) => (command.includes("sha256sum") ? exited(0, { stdout: line }) : undefined))
      const reason = yield* refusal(yield* stackOf(STACK))
      assert.strictEqual(reason._tag, "DigestDiffers")
      assert.match(reason.message, new RegExp("0".repeat(64)))
    }).pipe(Effect.provide(layer()))
  )

  it.effect("reads the programs back where nothing can compute a digest", () =>
    Effect.gen(function* () {
      const environment = yield* RecordingEnvironment
      yield* environment.answer(withoutTools)
      const files = yield* stackOf(STACK)
      const installed = yield* install(files)
      assert.strictEqual(Object.keys(installed.digests).length, 3)
      const downloads = (yield* environment.journal).filter(({ _tag }) => _tag === "Downloaded")
      assert.strictEqual(downloads.length, 3)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("removes the logs of an earlier trial, which would be read as this one's", () =>
    Effect.gen(function* () {
      yield* install(yield* stackOf(STACK))
      const environment = yield* RecordingEnvironment
      const [first] = yield* environment.commands
      assert.match(first?.command ?? "", /rm -f '\/opt\/buzz\/logs'\/\*\.log '\/opt\/buzz\/logs'\/\*\.pid/)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("does not send certificates that lie there already", () =>
    Effect.gen(function* () {
      const environment = yield* RecordingEnvironment
      yield* environment.answer(layoutSays(`have ${caBundle}\n`))
      const digest = Sha256.sha256(`${rootCertificates.join("\n")}\n`)
      yield* environment.answer((command) =>
        command.includes(`sha256sum '${caBundle}'\n`) ? exited(0, { stdout: `${digest}  ${caBundle}\n` }) : undefined
      )
      const { digests } = yield* install(yield* stackOf(STACK))
      assert.isFalse((yield* uploads).some(({ target }) => target === caBundle))
      assert.deepStrictEqual(Object.keys(digests).toSorted(), Object.keys(STACK).toSorted())
    }).pipe(Effect.provide(layer()))
  )

  it.effect("names its environment's architecture", () =>
    Effect.gen(function* () {
      const environment = yield* EnvironmentService
      const installed = yield* install(yield* stackOf(STACK))
      assert.strictEqual(installed.architecture, environment.facts.architecture)
    }).pipe(Effect.provide(layer({ facts: { architecture: "aarch64" } })))
  )
})
