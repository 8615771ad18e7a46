/**
 * The command as it is published, built from a copy of the sources: the checkout's `dist` is nobody's business here, and
 * somebody may be using it.
 */
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ROOT } from "./Checkout.ts"

/** What the command is built from. */
const PACKAGES = ["manifest", "relay", "runtime", "cli"]

/** Builds into a new temporary directory, which the caller removes. */
export const buildCommand = (): { readonly directory: string; readonly bin: string } => {
  const directory = mkdtempSync(join(tmpdir(), "bench-build-"))
  try {
    build(directory)
  } catch (error) {
    rmSync(directory, { recursive: true })
    throw error
  }
  return { directory, bin: join(directory, "packages", "cli", "dist", "bin.js") }
}

const build = (directory: string) => {
  linkModules(directory)
  cpSync(join(ROOT, "tsconfig.base.json"), join(directory, "tsconfig.base.json"))
  for (const name of PACKAGES) {
    for (const part of ["src", "node_modules", "package.json", "tsconfig.json"])
      cpSync(join(ROOT, "packages", name, part), join(directory, "packages", name, part), {
        recursive: true,
        // Links to other packages must lead to their copies.
        verbatimSymlinks: true
      })
  }
  execFileSync(join(ROOT, "node_modules", ".bin", "tsc"), ["-b", "packages/cli"], { cwd: directory, stdio: "inherit" })
  for (const name of PACKAGES) publish(join(directory, "packages", name, "package.json"))
}

/** Everything but the cache, in which the checkout's own builds keep their state. */
const linkModules = (directory: string) => {
  const [from, to] = [join(ROOT, "node_modules"), join(directory, "node_modules")]
  mkdirSync(to)
  for (const entry of readdirSync(from)) if (entry !== ".cache") symlinkSync(join(from, entry), join(to, entry))
}

/** As the package manager does when it packs: the fields of `publishConfig` take the place of those for development. */
const publish = (file: string) => {
  const { publishConfig, ...manifest } = JSON.parse(readFileSync(file, "utf8")) as Record<string, object>
  writeFileSync(file, JSON.stringify({ ...manifest, ...publishConfig }))
}
