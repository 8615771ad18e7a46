#!/usr/bin/env node
// Builds dist/buzz-orchestra: the command as one file that runs wherever there is a Node. It carries its modules bundled,
// the WebAssembly of the signatures, the programs of the reference stack and the example team, laid out as an installed
// package is, and unpacks them on first use (launcher.cjs).
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { chmodSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"

const root = fileURLToPath(new URL("..", import.meta.url))
const cli = join(root, "packages", "cli")
const requireFrom = (path) => createRequire(realpathSync(path))

/** Native parts of the engine's client: optional, and left out by the install as well. */
const OPTIONAL = [/^cpu-features$/, /\.node$/]

const bundled = async () => {
  const { rolldown } = await import(requireFrom(join(root, "node_modules/tsdown/package.json")).resolve("rolldown"))
  const bundle = await rolldown({
    input: { bin: join(cli, "src", "bin.ts") },
    platform: "node",
    external: OPTIONAL,
    transform: { target: "node22" }
  })
  // Two directories deep, as in the package: modules find the example from where they lie.
  const { output } = await bundle.generate({
    format: "esm",
    minify: true,
    entryFileNames: "dist/[name].js",
    chunkFileNames: "dist/chunks/[name]-[hash].js"
  })
  await bundle.close()
  return output.map(({ code, fileName }) => [fileName, Buffer.from(code)])
}

/** The files of a directory of this repository, by their names in the payload. */
const filesOf = (directory, target) =>
  readdirSync(directory, { recursive: true })
    .filter((name) => statSync(join(directory, name)).isFile())
    .toSorted()
    .map((name) => [
      `${target}/${name}`,
      readFileSync(join(directory, name)),
      statSync(join(directory, name)).mode & 0o777
    ])

const wasm = () => {
  // Its CommonJS form, lib/cjs/index.cjs.
  const secp = requireFrom(join(root, "packages/relay/package.json")).resolve("tiny-secp256k1")
  return readFileSync(join(secp, "..", "..", "secp256k1.wasm"))
}

const programs = () =>
  execFileSync("node", [join(root, "packages/reference-stack/scripts/build.mjs")], { encoding: "utf8" }).trim()

const { version } = JSON.parse(readFileSync(join(cli, "package.json"), "utf8"))
const stack = "node_modules/@buzz-orchestra/reference-stack"
const files = [
  ["package.json", Buffer.from(JSON.stringify({ name: "buzz-orchestra", version, type: "module" }))],
  ...(await bundled()),
  ["dist/chunks/secp256k1.wasm", wasm()],
  ...filesOf(join(root, "examples/hello-team"), "examples/hello-team"),
  [`${stack}/package.json`, Buffer.from(JSON.stringify({ name: "@buzz-orchestra/reference-stack", version }))],
  ...filesOf(programs(), `${stack}/dist/programs`)
]
const entries = files.map(([name, content, mode = 0o644]) => [name, { mode, base64: content.toString("base64") }])
const packed = gzipSync(JSON.stringify(Object.fromEntries(entries)), { level: 9 })
const launcher = readFileSync(new URL("launcher.cjs", import.meta.url), "utf8")
  .replace("@VERSION@", version)
  .replace("@DIGEST@", createHash("sha256").update(packed).digest("hex"))

const target = process.argv[2] ?? join(root, "dist", "buzz-orchestra")
mkdirSync(join(target, ".."), { recursive: true })
writeFileSync(target, `${launcher}//payload:${packed.toString("base64")}`)
chmodSync(target, 0o755)
console.log(`built ${target} (${(statSync(target).size / 2 ** 20).toFixed(1)} MiB)`)
