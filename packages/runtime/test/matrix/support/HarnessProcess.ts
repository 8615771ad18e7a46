/**
 * The harness of `harness.ts` as a child process: what it has said so far, its signals, and its end.
 */
import type { Phase } from "@buzz-orchestra/runtime/TrialEvent"
import { Deferred, Effect, type Scope } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Manner } from "./Manners.ts"

/** One trial that the harness runs. */
export interface HarnessCase {
  /** What its sandbox has in its environment. */
  readonly marker: string
  /** The trial directory. */
  readonly directory: string
  readonly team: ReadonlyArray<ReadonlyArray<Manner>>
  readonly story: "done" | "silent"
  /** Where the trial stops until the harness is told to; absent: nowhere. */
  readonly hold?: Phase
}

/** What the harness says: a case has begun a phase, or holds in it. */
export type HarnessWord =
  | { readonly case: number; readonly phase: Phase }
  | { readonly case: number; readonly held: Phase }

/** A running harness. */
export interface HarnessProcess {
  /** Returns when what was said so far satisfies `holds`. */
  readonly said: (holds: (words: ReadonlyArray<HarnessWord>) => boolean) => Effect.Effect<void>
  readonly kill: (signal: NodeJS.Signals) => void
  /** Its exit code, or the signal that ended it. */
  readonly ended: Effect.Effect<number | NodeJS.Signals>
  /** What it logged, on either of its outputs. */
  readonly logged: () => string
}

const PROGRAM = fileURLToPath(new URL("harness.ts", import.meta.url))

/** Starts it; the scope kills it if it still runs. */
export const start = (cases: ReadonlyArray<HarnessCase>): Effect.Effect<HarnessProcess, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => spawn(process.execPath, [PROGRAM, JSON.stringify(cases)])),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    ),
    (child): HarnessProcess => {
      const words: Array<HarnessWord> = []
      const waiting = new Map<Deferred.Deferred<void>, (words: ReadonlyArray<HarnessWord>) => boolean>()
      let [unfinished, logged] = ["", ""]
      const look = () => {
        for (const [wait, holds] of waiting) if (holds(words)) Deferred.doneUnsafe(wait, Effect.void)
      }
      child.stderr.setEncoding("utf8").on("data", (text: string) => (logged += text))
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        const lines = (unfinished + text).split("\n")
        unfinished = lines.pop() ?? ""
        for (const line of lines) {
          if (line.startsWith("{")) words.push(JSON.parse(line) as HarnessWord)
          else logged += `${line}\n`
        }
        look()
      })
      const ended = new Promise<number | NodeJS.Signals>((resolve) => {
        child.once("close", (code, signal) => resolve(signal ?? code ?? 0))
      })
      return {
        said: (holds) =>
          Effect.suspend(() => {
            const wait = Deferred.makeUnsafe<void>()
            waiting.set(wait, holds)
            look()
            return Deferred.await(wait)
          }),
        kill: (signal) => child.kill(signal),
        ended: Effect.promise(() => ended),
        logged: () => logged
      }
    }
  )
