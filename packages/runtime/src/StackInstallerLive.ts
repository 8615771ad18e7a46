/**
 * `StackInstaller` over any environment. Needs nothing there but a shell.
 */
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { Array, Effect, FileSystem, Layer, Path, type PlatformError } from "effect"
import { EnvironmentService } from "./EnvironmentService.ts"
import { readCaBundle } from "./internal/caBundle.ts"
import { ELF_HEAD_BYTES, elfMachine } from "./internal/elfMachine.ts"
import { fileDigest } from "./internal/fileDigest.ts"
import { type Digests, digestsInside } from "./internal/insideDigests.ts"
import { ownServices } from "./internal/ownServices.ts"
import { quote } from "./internal/shellText.ts"
import { ensureTrustStore } from "./internal/trustStore.ts"
import { DEFAULT_LAYOUT, type Layout, layoutAt } from "./Layout.ts"
import {
  ArchitectureMismatch,
  BashMissing,
  BinaryMissing,
  BinaryNotExecutable,
  CaBundleMissing,
  DigestDiffers,
  inPhase,
  LayoutNotWritable,
  UploadNotThere
} from "./RuntimeLaunchError.ts"
import { FORWARDER, type StackFiles } from "./StackFiles.ts"
import { type InstalledStack, StackInstaller } from "./StackInstaller.ts"

/** Programs are large; more at a time only compete for the same disk. */
const CONCURRENCY = 4

/** What lies in the layout's `bin` afterwards. */
interface Program {
  readonly name: string
  readonly path: string
}

/** The installer of whatever environment the layer is given. */
export const layer: Layer.Layer<StackInstaller, never, EnvironmentService | FileSystem.FileSystem | Path.Path> =
  Layer.effect(
    StackInstaller,
    Effect.gen(function* () {
      const context = yield* ownServices<EnvironmentService | FileSystem.FileSystem | Path.Path>()
      const install = Effect.fn("StackInstaller.install")(
        (files: StackFiles) => Effect.provide(installFiles(files), context),
        Effect.mapError((reason) => inPhase("install")(reason))
      )
      return StackInstaller.of({ install })
    })
  )

const installFiles = Effect.fnUntraced(function* (files: StackFiles) {
  const environment = yield* EnvironmentService
  const programs = programsOf(files)
  yield* requirePresent(programs)
  yield* requireExecutable(programs, files)
  yield* Effect.forEach(programs, requireArchitecture, { discard: true })
  const caBundle = yield* caBundleOf(files.caBundle)
  const expected = yield* digestsOnHost(programs)

  const { layout, present } = yield* makeLayout(programs, expected)
  const missing = programs.filter(({ name }) => present[name] !== expected[name])
  const uploads = missing.map(({ name, path }) =>
    environment.upload({ path }, `${layout.bin}/${name}`, { mode: 0o755 })
  )
  if (present[layout.caBundle] !== Sha256.sha256(caBundle))
    uploads.push(environment.upload({ content: caBundle }, layout.caBundle, { mode: 0o644 }))
  yield* Effect.all(uploads, { concurrency: CONCURRENCY, discard: true })

  const arrived = missing.map(({ name }) => name)
  const actual = { ...present, ...(yield* digestsInside(layout, arrived)) }
  yield* Effect.forEach(programs, (program) => requireSame(layout, program, expected, actual), { discard: true })
  const installed: InstalledStack = {
    layout,
    digests: Object.fromEntries(programs.map(({ name }) => [name, actual[name] ?? ""])),
    architecture: environment.facts.architecture,
    trustStore: yield* ensureTrustStore(layout)
  }
  return installed
})

const programsOf = (files: StackFiles): ReadonlyArray<Program> => [
  ...Object.entries(files.programs).map(([name, path]) => ({ name, path })),
  ...(files.forwarder === undefined ? [] : [{ name: FORWARDER, path: files.forwarder }])
]

const requirePresent = Effect.fnUntraced(function* (programs: ReadonlyArray<Program>) {
  const fs = yield* FileSystem.FileSystem
  const missing = yield* Effect.filter(programs, ({ path }) =>
    fs.stat(path).pipe(
      Effect.map((info) => info.type !== "File"),
      Effect.orElseSucceed(() => true)
    )
  )
  // All at once, so that nobody mends them one run at a time.
  if (Array.isReadonlyArrayNonEmpty(missing)) return yield* new BinaryMissing({ missing })
})

const requireExecutable = Effect.fnUntraced(function* (
  programs: ReadonlyArray<Program>,
  { notExecutable }: StackFiles
) {
  const refused = programs.filter(({ name }) => notExecutable?.includes(name) === true)
  if (Array.isReadonlyArrayNonEmpty(refused)) return yield* new BinaryNotExecutable({ programs: refused })
})

const requireArchitecture = Effect.fnUntraced(function* ({ name, path }: Program) {
  const { facts } = yield* EnvironmentService
  const fs = yield* FileSystem.FileSystem
  const head = yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* fs.open(path)
      const buffer = new Uint8Array(ELF_HEAD_BYTES)
      return buffer.subarray(0, yield* file.read(buffer))
    })
  ).pipe(unreadable({ name, path }))
  const actual = elfMachine(head)
  if (actual !== undefined && actual !== facts.architecture)
    return yield* new ArchitectureMismatch({
      environment: facts.name,
      name,
      path,
      expected: facts.architecture,
      actual
    })
})

const unreadable =
  ({ name, path }: Program) =>
  <A, R>(effect: Effect.Effect<A, PlatformError.PlatformError, R>): Effect.Effect<A, BinaryMissing, R> =>
    Effect.mapError(effect, ({ message }) => new BinaryMissing({ missing: [{ name, path, detail: message }] }))

const caBundleOf = (path: string | undefined) =>
  Effect.mapError(readCaBundle(path), ({ message }) => new CaBundleMissing({ path: path ?? "", detail: message }))

const digestsOnHost = Effect.fnUntraced(function* (programs: ReadonlyArray<Program>) {
  const entries = yield* Effect.forEach(
    programs,
    (program) => Effect.map(unreadable(program)(fileDigest(program.path)), (digest) => [program.name, digest] as const),
    { concurrency: CONCURRENCY }
  )
  return Object.fromEntries(entries) as Digests
})

/**
 * The first root that can hold the stack, and the digests of what lies there already: an environment may come with
 * them, in a directory that nobody can write. Logs of an earlier trial are removed: they would be read as this one's.
 */
const makeLayout = Effect.fnUntraced(function* (programs: ReadonlyArray<Program>, expected: Digests) {
  const { exec, facts } = yield* EnvironmentService
  const roots = facts.stackRoots ?? [DEFAULT_LAYOUT.root, `${facts.homeDirectory}/.buzz`]
  let detail = ""
  for (const root of roots) {
    const layout = layoutAt(root)
    const result = yield* exec(layoutScript(layout, programs))
    detail = result.stderr.trim() || `exit code ${result.exitCode}`
    if (result.exitCode !== 0) continue
    const said = new Set(result.stdout.split("\n"))
    if (said.has("no bash")) return yield* new BashMissing({ environment: facts.name })
    const files = [...programs.map(({ name }) => name), layout.caBundle]
    const there = files.filter((file) => said.has(`have ${file}`))
    const present = yield* digestsInside(layout, there)
    const complete = programs.every(({ name }) => present[name] === expected[name])
    if (complete || !said.has("closed")) return { layout, present }
  }
  return yield* new LayoutNotWritable({ environment: facts.name, roots, detail })
})

/**
 * Prints `no bash`, `closed` when no program can be put into `bin` and run from there, and `have <file>` for each that is there.
 * Whether a directory lets programs run is told only by running one.
 */
const layoutScript = ({ bin, caBundle, logs, prompts }: Layout, programs: ReadonlyArray<Program>): string => {
  const probe = quote(`${bin}/.probe`)
  return `mkdir -p ${quote(bin)} ${quote(prompts)} ${quote(logs)} && [ -w ${quote(prompts)} ] && [ -w ${quote(logs)} ] || exit 1
rm -f ${quote(logs)}/*.log ${quote(logs)}/*.pid ${quote(logs)}/*.exit
command -v bash >/dev/null 2>&1 || echo no bash
for name in ${programs.map(({ name }) => quote(name)).join(" ")}; do [ -x ${quote(bin)}/"$name" ] && echo "have $name"; done
[ -s ${quote(caBundle)} ] && echo have ${quote(caBundle)}
echo '#!/bin/sh' >${probe} && chmod 755 ${probe} && ${probe} || echo closed
rm -f ${probe}`
}

const requireSame = Effect.fnUntraced(function* (layout: Layout, program: Program, expected: Digests, actual: Digests) {
  const { facts } = yield* EnvironmentService
  const path = `${layout.bin}/${program.name}`
  const [wanted, found] = [expected[program.name], actual[program.name]]
  if (found === undefined) return yield* new UploadNotThere({ environment: facts.name, path })
  if (wanted !== undefined && wanted !== found)
    return yield* new DigestDiffers({ environment: facts.name, path, expected: wanted, actual: found })
})
