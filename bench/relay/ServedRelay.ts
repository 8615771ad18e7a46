/**
 * Both sides of a relay in a process of its own: it says its URL when it serves, and on request what it has used so far.
 */
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"

/** What a relay's process has used. */
export interface Usage {
  /** Bytes of memory after a collection: the heap, and what lies beside it. */
  readonly memory: number
  /** Seconds of processor time since its start. */
  readonly cpu: number
}

/** A relay that serves. */
export interface ServedRelay {
  readonly url: string
  readonly usage: () => Promise<Usage>
}

/** Starts the program beside this file. The scope's end is the process's. */
export const start = Effect.fnUntraced(function* (program: string) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      fork(fileURLToPath(new URL(program, import.meta.url)), { stdio: ["ignore", "ignore", "inherit", "ipc"] })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const ended = once(child, "exit").then(() => Promise.reject(new Error(`${program} ended`)))
  // It also ends when nobody waits for an answer.
  ended.catch(() => {})
  const answer = async <A>(question?: string): Promise<A> => {
    if (question !== undefined) child.send(question)
    const [message] = await Promise.race([once(child, "message"), ended])
    return message as A
  }
  const url = yield* Effect.promise(() => answer<string>())
  return { url, usage: () => answer<Usage>("usage") } satisfies ServedRelay
})

/** In the relay's process: says the URL, and answers from then on. */
export const serves = (url: string): void => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  process.on("message", () => {
    collect()
    const { external, heapUsed } = process.memoryUsage()
    const { system, user } = process.cpuUsage()
    process.send?.({ memory: heapUsed + external, cpu: (user + system) / 1e6 } satisfies Usage)
  })
  process.send?.(url)
}
