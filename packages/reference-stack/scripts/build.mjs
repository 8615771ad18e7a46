// Prints the directory that holds the built programs of the reference stack, one line on stdout.
//
// In a checkout the programs are bundled on first use and cached by the content of everything that goes into them. An
// installed package ships them in dist/programs, which `build.mjs --dist` fills before publishing. The cache lies in
// node_modules/.cache/reference-stack of the checkout, or where REFERENCE_STACK_CACHE says. Plain JavaScript without
// dependencies of its own, so that any Node runs it; the bundler is the one tsdown brings.
import { createHash, randomBytes } from "node:crypto"
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from "node:fs"
import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { createRequire, isBuiltin } from "node:module"
import { dirname, join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"

const packageRoot = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "")
const require = createRequire(import.meta.url)

/** The programs, by the name of their entry in src/bin and of their file. */
const PROGRAMS = ["buzz", "buzz-acp", "buzz-agent", "buzz-dev-mcp", "relay-forwarder"]

/** Directories of the cache that nobody used for this long are removed. */
const CACHE_DAYS = 7

/**
 * Each program is one file that is a shell script and JavaScript at once. The shell starts the Node that lies next to the
 * file when there is one (a sandbox or container gets both uploaded), else the one on PATH. For JavaScript the second
 * line is a string and a comment.
 */
const HEADER = `#!/bin/sh
':' //; d=\${0%/*}; [ -x "$d/node" ] && exec "$d/node" "$0" "$@"; exec node "$0" "$@"
`

const files = (directory) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .toSorted()

const nearestLockfile = () => {
  for (let directory = packageRoot; ; directory = dirname(directory)) {
    const lockfile = join(directory, "pnpm-lock.yaml")
    if (existsSync(lockfile)) return lockfile
    if (dirname(directory) === directory) throw new Error(`no pnpm-lock.yaml above ${packageRoot}`)
  }
}

const relayRoot = () => dirname(realpathSync(require.resolve("@buzz-orchestra/relay/package.json")))

const contentHash = () => {
  const hash = createHash("sha256")
  const inputs = [
    ...files(join(packageRoot, "src")),
    ...files(join(relayRoot(), "src")),
    fileURLToPath(import.meta.url),
    nearestLockfile()
  ]
  for (const file of inputs)
    hash
      .update(`${relative(packageRoot, file)}\0`)
      .update(readFileSync(file))
      .update("\0")
  return hash.digest("hex").slice(0, 32)
}

const loadRolldown = async () => {
  const tsdown = createRequire(realpathSync(require.resolve("tsdown")))
  return import(tsdown.resolve("rolldown"))
}

/**
 * What libraries load at once and these programs hardly ever use: schemas for the results of tools, TLS and compression for
 * a relay that is mostly on loopback. A program of the stack is started for every agent and every message, so each of these
 * is loaded when it is first touched.
 */
const LAZY = [
  ["/@modelcontextprotocol/sdk/dist/esm/validation/ajv-provider.js", ["ajv", "ajv-formats"]],
  ["/ws/lib/websocket.js", ["https", "tls"]],
  ["/ws/lib/permessage-deflate.js", ["zlib"]]
]
const LAZY_ID = "\0lazy:"

const lazily = {
  name: "lazily",
  async resolveId(source, importer) {
    const lazy = LAZY.find(([file]) => importer?.replaceAll("\\", "/").endsWith(file))
    if (lazy === undefined || !lazy[1].includes(source)) return null
    if (isBuiltin(source)) return `${LAZY_ID}node:${source}`
    return `${LAZY_ID}${(await this.resolve(source, importer, { skipSelf: true })).id}`
  },
  load(id) {
    if (!id.startsWith(LAZY_ID)) return null
    const real = `require(${JSON.stringify(id.slice(LAZY_ID.length))})`
    return `module.exports = new Proxy(function () {}, {
      get: (_, name) => ${real}[name],
      apply: (_, self, args) => Reflect.apply(${real}, self, args),
      construct: (_, args) => Reflect.construct(${real}, args)
    })`
  }
}

/**
 * The schemas of ACP are made when they are first used: of the two hundred a program needs a dozen, and making all of them
 * takes as long as Node itself. The file is generated, one constant for each; nothing but other schemas refers to them.
 */
const schemasOnDemand = {
  name: "schemas-on-demand",
  transform(code, id) {
    if (!id.replaceAll("\\", "/").endsWith("/@agentclientprotocol/sdk/dist/v1/schema/zod.gen.js")) return null
    return code.replace(/^export const (z\w+) = ([\s\S]*?);$/gm, "export const $1 = z.lazy(() => $2);")
  }
}

const bundleInto = async (directory) => {
  const { rolldown } = await loadRolldown()
  mkdirSync(directory, { recursive: true })
  // The nearest package.json would otherwise decide what a file without extension is.
  writeFileSync(join(directory, "package.json"), `{ "type": "commonjs" }\n`)
  for (const program of PROGRAMS) {
    const bundle = await rolldown({
      input: join(packageRoot, "src", "bin", `${program}.ts`),
      platform: "node",
      transform: { target: "node20" },
      plugins: [lazily, schemasOnDemand],
      onLog: (level, log) => {
        if (level !== "info") console.error(`${program}: ${log.message}`)
      }
    })
    const { output } = await bundle.generate({ format: "cjs", minify: true, codeSplitting: false })
    await bundle.close()
    if (output.length !== 1) throw new Error(`${program} is not one file: ${output.map((part) => part.fileName)}`)
    const path = join(directory, program)
    writeFileSync(path, HEADER + output[0].code)
    chmodSync(path, 0o755)
  }
}

/** Builds next to the destination and renames, so that several first uses at once never see half a build. */
const buildOnce = async (destination) => {
  mkdirSync(dirname(destination), { recursive: true })
  const temporary = `${destination}.${process.pid}.${randomBytes(4).toString("hex")}`
  try {
    await bundleInto(temporary)
    renameSync(temporary, destination)
  } catch (error) {
    // Somebody else was first: theirs has the same content.
    if (!existsSync(destination)) throw error
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

const prune = (cache, keep) => {
  const oldest = Date.now() - CACHE_DAYS * 86_400_000
  for (const entry of readdirSync(cache)) {
    const path = join(cache, entry)
    if (path !== keep && statSync(path, { throwIfNoEntry: false })?.mtimeMs < oldest)
      rmSync(path, { recursive: true, force: true })
  }
}

const cached = async () => {
  const cache =
    process.env["REFERENCE_STACK_CACHE"] ??
    join(dirname(nearestLockfile()), "node_modules", ".cache", "reference-stack")
  const destination = join(cache, contentHash())
  if (!existsSync(destination)) {
    await buildOnce(destination)
    prune(cache, destination)
  }
  const now = new Date()
  try {
    utimesSync(destination, now, now)
  } catch (error) {
    // A cache that another user made is theirs to keep.
    if (error.code !== "EPERM" && error.code !== "EROFS") throw error
  }
  return destination
}

const dist = join(packageRoot, "dist", "programs")

if (process.argv[2] === "--dist") {
  rmSync(dist, { recursive: true, force: true })
  await buildOnce(dist)
  console.log(dist)
} else {
  console.log(packageRoot.split(sep).includes("node_modules") ? dist : await cached())
}
