/**
 * `Output` over the streams of this process. Needs `node:fs` and `process`: Node writes to terminals and pipes
 * synchronously, so a reader that stands still (Ctrl-S, a stuck pager) would stop the whole trial. Here every write goes
 * through the thread pool instead.
 */
import { Config, Effect, Layer, Option } from "effect"
import * as fs from "node:fs"
import { isatty } from "node:tty"
import { Output } from "./Output.ts"
import { CURSOR_SHOWN } from "./Screen.ts"
import { styleFor } from "./Style.ts"

const STDOUT = 1
const STDERR = 2

/** What a terminal has when it does not say, as everywhere. */
const DEFAULT_SIZE = { columns: 80, rows: 24 }

/** Writes are retried after this long while a non-blocking reader is full. */
const RETRY_MILLIS = 10

const FLUSH_LIMIT = "1 second"

/** Texts for one descriptor, written one after the other. */
class Writer {
  private pending: Array<string> = []
  private waiting: Array<() => void> = []
  private busy = false
  private readonly descriptor: number
  private readonly onClosed: () => void

  constructor(descriptor: number, onClosed: () => void) {
    this.descriptor = descriptor
    this.onClosed = onClosed
  }

  write(text: string): void {
    this.pending.push(text)
    if (!this.busy) this.next()
  }

  whenDrained(resume: () => void): void {
    if (this.busy) this.waiting.push(resume)
    else resume()
  }

  private next(): void {
    const text = this.pending.join("")
    this.pending = []
    this.busy = text !== ""
    if (this.busy) return this.send(Buffer.from(text))
    for (const resume of this.waiting.splice(0)) resume()
  }

  private send(bytes: Buffer): void {
    fs.write(this.descriptor, bytes, (error, written) => {
      if (error === null) return written < bytes.length ? this.send(bytes.subarray(written)) : this.next()
      if (error.code === "EAGAIN") return void setTimeout(() => this.send(bytes), RETRY_MILLIS)
      // Nobody reads any more; what is left has no reader either.
      this.pending = []
      if (error.code === "EPIPE") this.onClosed()
      this.next()
    })
  }
}

/**
 * The process's stdout and stderr. `onClosed` is called once when the reader of stdout went away. Colours follow `NO_COLOR`
 * and `TERM`. Whatever ends the process, a hidden cursor is shown again.
 */
export const layerWith = (onClosed: () => void): Layer.Layer<Output, Config.ConfigError> =>
  Layer.effect(
    Output,
    Effect.gen(function* () {
      const isTerminal = isatty(STDOUT)
      const noColor = Option.getOrUndefined(yield* Config.option(Config.String("NO_COLOR")))
      const term = Option.getOrUndefined(yield* Config.option(Config.String("TERM")))
      const out = new Writer(STDOUT, onClosed)
      const err = new Writer(STDERR, () => {})
      let diverted: ((text: string) => Effect.Effect<void>) | undefined = undefined
      if (isTerminal) restoreCursorAtExit()
      const drained = (writer: Writer) =>
        Effect.callback<void>((resume) => writer.whenDrained(() => resume(Effect.void)))
      return Output.of({
        isTerminal: isTerminal && term !== "dumb",
        style: styleFor({ isTerminal, noColor, term }),
        size: Effect.sync(() => ({
          columns: process.stdout.columns || DEFAULT_SIZE.columns,
          rows: process.stdout.rows || DEFAULT_SIZE.rows
        })),
        write: (text) => Effect.sync(() => out.write(text)),
        writeError: (text) => Effect.suspend(() => diverted?.(text) ?? Effect.sync(() => err.write(text))),
        divertErrors: (show) => Effect.sync(() => void (diverted = isTerminal && isatty(STDERR) ? show : undefined)),
        flush: Effect.all([drained(out), drained(err)], { discard: true }).pipe(
          Effect.timeoutOrElse({ duration: FLUSH_LIMIT, orElse: () => Effect.void })
        )
      })
    })
  )

/** Registered once per process; shows the cursor even when the process dies of a bug. */
const restoreCursorAtExit = (): void => {
  process.once("exit", () => {
    try {
      fs.writeSync(STDOUT, CURSOR_SHOWN)
    } catch {
      // The terminal is gone, and its cursor with it.
    }
  })
}
