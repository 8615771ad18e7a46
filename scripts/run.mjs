#!/usr/bin/env node
// Runs a task of this repository on any Node >= 20 with nothing installed: installs the pinned pnpm, the pinned
// Node and the dependencies when they are missing or stale, then runs the package.json script "x:<task>" on them.
// Plain JavaScript without dependencies, because it runs before anything is installed.
import { spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { constants } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

const PNPM = "12.21.0"
const root = fileURLToPath(new URL("..", import.meta.url))
const bin = join(root, "node_modules", ".bin")
const [task, ...args] = process.argv.slice(2)

const say = (text) => process.stderr.write(`${text}\n`)

/** The terminal sends SIGINT to the whole foreground group: the child has it already, and forwarding would deliver it twice. */
const leaveToTerminal = () => {}

/** The child's exit code, or 128 + the number of the signal that ended it. */
const run = (command, argv, env = process.env) =>
  new Promise((resolve) => {
    const child = spawn(command, argv, { cwd: root, env, stdio: "inherit" })
    // SIGTERM and SIGHUP reach only this process, so they are passed on.
    const forward = (signal) => child.kill(signal)
    process.on("SIGINT", leaveToTerminal)
    process.on("SIGTERM", forward)
    process.on("SIGHUP", forward)
    child.on("error", (error) => {
      say(`cannot run ${command}: ${error.message}`)
      resolve(127)
    })
    child.on("close", (code, signal) => {
      process.off("SIGINT", leaveToTerminal)
      process.off("SIGTERM", forward)
      process.off("SIGHUP", forward)
      resolve(signal === null ? code : 128 + constants.signals[signal])
    })
  })

const pinnedPnpm = () => {
  const onPath = spawnSync("pnpm", ["--version"], { cwd: "/", encoding: "utf8" })
  return onPath.status === 0 && onPath.stdout.trim() === PNPM ? ["pnpm"] : ["npx", "--yes", `pnpm@${PNPM}`]
}

/** One hash over every file that decides what an install puts into node_modules. */
const installStamp = () => {
  const packages = readdirSync(join(root, "packages")).toSorted()
  const inputs = ["package.json", "pnpm-workspace.yaml", "pnpm-lock.yaml"].concat(
    packages.map((name) => join("packages", name, "package.json"))
  )
  const hash = createHash("sha256")
  for (const file of inputs) {
    if (existsSync(join(root, file)))
      hash
        .update(file)
        .update("\0")
        .update(readFileSync(join(root, file)))
  }
  return hash.digest("hex")
}

const install = async () => {
  const stampFile = join(root, "node_modules", ".install-stamp")
  const stamp = installStamp()
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return 0
  say("Installing the pinned tools and dependencies into node_modules (only when they changed) ...")
  const [command, ...prefix] = pinnedPnpm()
  const code = await run(command, [...prefix, "install", "--frozen-lockfile", "--reporter", "append-only"], {
    ...process.env,
    CI: "true"
  })
  if (code === 0) {
    mkdirSync(join(root, "node_modules"), { recursive: true })
    writeFileSync(stampFile, stamp)
  }
  return code
}

const quote = (argument) => `'${argument.replaceAll("'", `'\\''`)}'`

const main = async () => {
  const scripts = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts
  const script = scripts[`x:${task}`]
  if (script === undefined) {
    const known = Object.keys(scripts).filter((name) => name.startsWith("x:"))
    say(`unknown task ${task ?? "(none)"}; known: ${known.map((name) => name.slice(2)).join(", ")}`)
    return 2
  }
  const installed = await install()
  if (installed !== 0) {
    say(`The install failed (exit code ${installed}); the lines above say why. Nothing was run.`)
    return installed
  }
  const env = {
    // Compiled modules are kept: whatever runs from source, here and in the tests' child processes, starts a third faster.
    NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "node"),
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH ?? ""}`
  }
  const node = spawnSync("node", ["-p", "process.versions.node"], { cwd: root, env, encoding: "utf8" })
  const version = node.status === 0 ? node.stdout.trim() : "none that starts"
  const [major = 0, minor = 0] = version.split(".").map(Number)
  if (!(major > 22 || (major === 22 && minor >= 19))) {
    say(
      `Node >= 22.19 is needed (found ${version}), and the npm registry has no prebuilt one that runs on ` +
        `${process.platform}-${process.arch} with this C library. Install Node 22.19 or later and try again.`
    )
    return 1
  }
  if (task === "demo" || task === "test") say(`Running "${task}" on Node ${version}.`)
  // exec: the shell must not stand between a forwarded signal and the task.
  return run("sh", ["-c", ["exec", script, ...args.map(quote)].join(" ")], env)
}

process.exitCode = await main()
