// @module-tag thorough
import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const runner = fileURLToPath(new URL("../run.mjs", import.meta.url))
const pinned = /const PNPM = "(.+)"/.exec(readFileSync(runner, "utf8"))?.[1]

/** A repository with the runner, the given tasks and a pnpm that only notes how it was called. */
const repository = (tasks: Record<string, string>, options?: { readonly installExitCode?: number }) => {
  const root = mkdtempSync(join(tmpdir(), "run-test-"))
  for (const directory of ["scripts", "packages/one", "tools"]) mkdirSync(join(root, directory), { recursive: true })
  copyFileSync(runner, join(root, "scripts/run.mjs"))
  writeFileSync(
    join(root, "package.json"),
    JSON.stringify({ scripts: Object.fromEntries(Object.entries(tasks).map(([name, line]) => [`x:${name}`, line])) })
  )
  writeFileSync(join(root, "packages/one/package.json"), "{}")
  const pnpm = join(root, "tools/pnpm")
  writeFileSync(
    pnpm,
    `#!/bin/sh\nif [ "$1" = --version ]; then echo ${pinned}; exit; fi\necho "$@" >>${root}/installs\nexit ${options?.installExitCode ?? 0}\n`
  )
  chmodSync(pnpm, 0o755)
  const start = (...args: ReadonlyArray<string>) => {
    const child = spawn(process.execPath, [join(root, "scripts/run.mjs"), ...args], {
      env: { ...process.env, PATH: `${join(root, "tools")}:${dirname(process.execPath)}:${process.env["PATH"]}` },
      stdio: ["ignore", "pipe", "pipe"]
    })
    const output = { stdout: "", stderr: "" }
    child.stdout.on("data", (chunk) => (output.stdout += chunk))
    child.stderr.on("data", (chunk) => (output.stderr += chunk))
    const ended = new Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>(
      (resolve) => child.on("close", (code, signal) => resolve({ code, signal, ...output }))
    )
    const printed = (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => (output.stdout.includes(text) ? resolve() : child.stdout.once("data", look))
        look()
      })
    return { child, ended, printed }
  }
  const installs = () => readFileSync(join(root, "installs"), "utf8").trim().split("\n")
  return { root, start, installs, remove: () => rmSync(root, { recursive: true, force: true }) }
}

const within = (tasks: Record<string, string>, options?: { readonly installExitCode?: number }) => {
  const made = repository(tasks, options)
  return { ...made, [Symbol.dispose]: made.remove }
}

describe("the task runner", () => {
  it("passes arguments on as they are and exits with the task's code", async () => {
    using repo = within({ echo: `sh -c 'printf "[%s]" "$@"; exit 7' sh` })
    const { code, stdout } = await repo.start("echo", "a b", "it's", "$HOME").ended
    assert.strictEqual(stdout, "[a b][it's][$HOME]")
    assert.strictEqual(code, 7)
  })

  it("installs once, and again only when a manifest changed", async () => {
    using repo = within({ ok: "true" })
    await repo.start("ok").ended
    await repo.start("ok").ended
    assert.strictEqual(repo.installs().length, 1)
    writeFileSync(join(repo.root, "packages/one/package.json"), `{"name":"changed"}`)
    await repo.start("ok").ended
    assert.strictEqual(repo.installs().length, 2)
    assert.match(repo.installs()[0] ?? "", /^install --frozen-lockfile/)
  })

  it("runs nothing when the install fails, and tries again the next time", async () => {
    using repo = within({ ok: "echo ran" }, { installExitCode: 5 })
    const { code, stdout, stderr } = await repo.start("ok").ended
    assert.strictEqual(code, 5)
    assert.strictEqual(stdout, "")
    assert.include(stderr, "The install failed (exit code 5)")
    await repo.start("ok").ended
    assert.strictEqual(repo.installs().length, 2)
  })

  it("names the tasks when it does not know one", async () => {
    using repo = within({ demo: "true", test: "true" })
    const { code, stderr } = await repo.start("dmeo").ended
    assert.strictEqual(code, 2)
    assert.include(stderr, "unknown task dmeo; known: demo, test")
  })

  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    it(`forwards ${signal} to the task and exits with the task's code`, async () => {
      using repo = within({
        wait: `node -e 'process.on("${signal}", () => process.exit(42)); console.log("waiting"); setInterval(() => {}, 1e6)'`
      })
      const { child, ended, printed } = repo.start("wait")
      await printed("waiting")
      child.kill(signal)
      assert.deepInclude(await ended, { code: 42, signal: null })
    })
  }

  it("leaves SIGINT to the terminal, which sends it to the task as well", async () => {
    using repo = within({
      wait: `node -e 'process.on("SIGTERM", () => process.exit(3)); process.on("SIGINT", () => console.log("got SIGINT")); console.log("waiting"); setInterval(() => {}, 1e6)'`
    })
    const { child, ended, printed } = repo.start("wait")
    await printed("waiting")
    child.kill("SIGINT")
    child.kill("SIGTERM")
    const { code, stdout } = await ended
    assert.strictEqual(code, 3)
    assert.notInclude(stdout, "got SIGINT")
  })

  it("exits with 128 + the signal's number when a signal ended the task", async () => {
    using repo = within({ kill: `sh -c 'kill -KILL $$'` })
    assert.strictEqual((await repo.start("kill").ended).code, 137)
  })
})
