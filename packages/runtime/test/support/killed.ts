/**
 * The harness of `killable.ts` from outside: it is started, and killed at a moment of its own.
 */
import { Effect, Redacted } from "effect"
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { WORKER } from "./trial.ts"

/** What it is told. */
export interface Killable {
  /** Where its trials' directories are made. */
  readonly directory: string
  /** How many trials it runs at once. */
  readonly lanes: number
  readonly seed: number
}

/** So many steps of its trials are one character on stdout: each of them would cost more than what is counted. */
export const STEPS_TOLD = 10

/** What its agents say in their logs: the key of the model, and their own. */
export const SECRETS = [Redacted.make("a-key-of-the-model-that-nobody-may-read-0123456789"), WORKER.secretKey]

const PROGRAM = fileURLToPath(new URL("killable.ts", import.meta.url))

/** Runs it until its trials have taken so many steps together, and returns how it ended and what it logged. */
export const kill = Effect.fnUntraced(function* (killable: Killable, steps: number) {
  const temporary = join(killable.directory, "..", "temporary")
  fs.mkdirSync(temporary, { recursive: true })
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [PROGRAM, JSON.stringify(killable)], { env: { ...process.env, TMPDIR: temporary } })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  let logged = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (logged += text))
  let taken = 0
  child.stdout.on("data", ({ length }: Uint8Array) => {
    taken += length * STEPS_TOLD
    if (taken >= steps) child.kill("SIGKILL")
  })
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) =>
    child.once("close", (code, signal) => resolve(signal ?? code))
  )
  return { ended: yield* Effect.promise(() => ended), logged }
})
