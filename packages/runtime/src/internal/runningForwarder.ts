/**
 * The forwarder that an earlier trial left running in an environment that its caller keeps.
 */
import { Effect } from "effect"
import { FORWARDER } from "../StackFiles.ts"
import { type ProcessRecord, runsFrom } from "../SweepPlan.ts"
import { isDeadState } from "../WatchEvent.ts"
import * as SweepCalls from "./sweepCalls.ts"

/** Whether this is the layout's forwarder with just these arguments: another target is another relay. Pure. */
export const forwards = (
  process: ProcessRecord,
  bin: ReadonlyArray<string>,
  listen: string,
  target: string
): boolean => {
  const [program = "", ...args] = process.argv.slice(-3)
  return (
    !isDeadState(process.state) &&
    runsFrom(bin, process) &&
    program.endsWith(`/${FORWARDER}`) &&
    args.length === 2 &&
    args[0] === listen &&
    args[1] === target
  )
}

/** `undefined` when there is none, or when the environment does not tell: then starting one finds the port free or held. */
export const findForwarder = Effect.fnUntraced(function* (bin: string, listen: string, target: string) {
  const calls = yield* SweepCalls.make(bin, () => Effect.void)
  const seen = yield* calls.look
  const found = seen?.processes.find((process) => forwards(process, seen.bin, listen, target))
  return found === undefined ? undefined : { pid: found.pid, startTime: found.startTime }
})
