/**
 * Where the command writes: text to stdout and stderr, and what is known about the terminal. This file is the contract;
 * the process's own streams are `OutputNode`.
 */
import { Context, type Effect } from "effect"
import type { Style } from "./Style.ts"

/** What commands print through while a trial runs. */
export class Output extends Context.Service<
  Output,
  {
    /** Whether stdout is a terminal that can be repainted. */
    readonly isTerminal: boolean
    /** For stdout. */
    readonly style: Style
    /** Of the terminal now; people resize windows. */
    readonly size: Effect.Effect<{ readonly columns: number; readonly rows: number }>
    /** Hands text to stdout and returns at once: a reader that stands still never holds up a trial. */
    write(text: string): Effect.Effect<void>
    /** The same for stderr. */
    writeError(text: string): Effect.Effect<void>
    /**
     * Where stdout and stderr are one terminal, hands what is written to stderr to `show` instead, until it is called with
     * `undefined`: who repaints a terminal must know of every other line on it.
     */
    divertErrors(show: ((text: string) => Effect.Effect<void>) | undefined): Effect.Effect<void>
    /** Waits until everything handed over is written; at most a second, because a stopped terminal never reads on. */
    readonly flush: Effect.Effect<void>
  }
>()("@buzz-orchestra/cli/Output") {}
