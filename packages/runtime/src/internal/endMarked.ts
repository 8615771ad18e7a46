/**
 * Ends everything of an environment that shares this machine's processes, when it is closed.
 */
import { Effect, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { planSweep, type ProcessRecord } from "../SweepPlan.ts"
import { randomMarker } from "./randomMarker.ts"
import { parseSnapshot, signalScript, snapshotScript } from "./sweepScript.ts"

/** As long as a sweep waits. */
const TERM_LIMIT_MILLIS = 2000
const KILL_LIMIT_MILLIS = 1000

/** Looks for processes that were started while others were being ended. */
const ROUNDS = 5

/** Looking at a loaded machine takes seconds; one that does not answer is left to the reaper. */
const DEADLINE = "30 seconds"

/**
 * TERM, then KILL until nothing is left that carries `mark`, runs from `bin`, or descends from such. Never fails: what is left is
 * told in the log.
 */
export const endMarked = Effect.fnUntraced(
  function* ({ bin, mark, path }: { readonly mark: string; readonly bin: string; readonly path: string }) {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const run = (script: string) =>
      spawner.string(
        ChildProcess.make("sh", ["-s"], {
          env: { PATH: path },
          cwd: "/",
          stdin: Stream.make(new TextEncoder().encode(script))
        })
      )
    const look = Effect.gen(function* () {
      const marker = yield* randomMarker
      const seen = parseSnapshot(marker, bin, yield* run(snapshotScript(marker, bin, mark)), mark)
      // Shells that this process started are no housekeeping any more.
      return planSweep({ ...seen, entry: 0 }, { roots: [], all: true, spare: [seen.shell, seen.entry] }).end
    })
    let left: ReadonlyArray<ProcessRecord> = yield* look
    for (let round = 0; left.length > 0 && round < ROUNDS; round++) {
      yield* run(
        round === 0 ? signalScript("TERM", left, TERM_LIMIT_MILLIS) : signalScript("KILL", left, KILL_LIMIT_MILLIS)
      )
      left = yield* look
    }
    if (left.length > 0)
      yield* Effect.logWarning(`still running although killed: ${left.map(({ pid }) => pid).join(", ")}`)
  },
  Effect.timeout(DEADLINE),
  Effect.catch(({ message }) => Effect.logWarning(`what was started here may still run: ${message}`))
)
