/** The Python of this machine, where there is one. */
import { spawnSync } from "node:child_process"

/** Its own path: what `python3` finds may be a shim that takes longer than the program. */
export const python = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], {
  encoding: "utf8"
}).stdout?.trim()

/** Runs it; undefined where there is none. */
export const runPython = (args: ReadonlyArray<string>, input: string | Uint8Array = ""): string | undefined => {
  if (!python) return undefined
  const { status, stdout } = spawnSync(python, args, { input, encoding: "utf8" })
  return status === 0 ? stdout : undefined
}
