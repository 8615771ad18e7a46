/**
 * The logs of a trial on this machine, written as the watch reports them: a byte crosses the environment's border once.
 * Secrets are taken out before anything lands on disk.
 */
import { Effect, FileSystem, Ref, Scope } from "effect"
import * as Redaction from "./Redaction.ts"
import type { WatchEvent } from "./WatchEvent.ts"

/** The logs of one trial as they are written here. The scope it was opened in closes the files. */
export interface LogCapture {
  /** Takes new bytes of a log; other events mean nothing here. Trouble with the disk is a warning, never a failure. */
  write(event: WatchEvent): Effect.Effect<void>
  /** Writes what is held back because a secret could still begin in it, and takes nothing more. */
  readonly finish: Effect.Effect<void>
  /** How far each file was received, before redaction. */
  readonly received: Effect.Effect<ReadonlyMap<string, number>>
}

/** Where the logs go and what is done with them on the way. */
export interface LogCaptureOptions {
  /** Where a log of this name lies on this machine. */
  readonly at: (name: string) => string
  readonly redactor: Redaction.Redactor
  readonly warn: (detail: string) => Effect.Effect<void>
}

interface Capture {
  readonly file: FileSystem.File | undefined
  readonly received: number
  /** What `Redaction.feed` holds back. */
  readonly held: Uint8Array
}

/** Opens no file yet. The scope closes all that are opened later. */
export const open = Effect.fnUntraced(function* (
  options: LogCaptureOptions
): Effect.fn.Return<LogCapture, never, FileSystem.FileSystem | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const scope = yield* Effect.scope
  const captures = yield* Ref.make<ReadonlyMap<string, Capture>>(new Map())
  const finished = yield* Ref.make(false)
  const keep = (name: string, capture: Capture) => Ref.update(captures, (all) => new Map([...all, [name, capture]]))

  const trouble = (name: string) => (error: { readonly message: string }) =>
    Effect.as(options.warn(`the log ${name} is not written any further: ${error.message}`), undefined)

  const begin = Effect.fnUntraced(function* (name: string) {
    const file = yield* fs.open(options.at(name), { flag: "w" }).pipe(Scope.provide(scope), Effect.catch(trouble(name)))
    const capture: Capture = { file, received: 0, held: Redaction.NOTHING_HELD }
    return capture
  })

  const append = Effect.fnUntraced(function* (name: string, capture: Capture, bytes: Uint8Array) {
    if (capture.file === undefined || bytes.length === 0) return capture.file
    return yield* capture.file.writeAll(bytes).pipe(Effect.as(capture.file), Effect.catch(trouble(name)))
  })

  const write = Effect.fnUntraced(function* (event: WatchEvent) {
    if (event._tag !== "LogBytes" || (yield* Ref.get(finished))) return
    const { bytes, file: name, offset } = event
    const capture = (yield* Ref.get(captures)).get(name) ?? (yield* begin(name))
    if (offset > capture.received)
      yield* options.warn(`the log ${name} lacks ${offset - capture.received} bytes at ${capture.received}`)
    if (offset < capture.received)
      yield* options.warn(`the log ${name} was cut from ${capture.received} to ${offset} bytes in the environment`)
    const [held, shown] = Redaction.feed(options.redactor, capture.held, bytes)
    const file = yield* append(name, capture, shown)
    yield* keep(name, { file, held, received: offset + bytes.length })
  })

  const finish = Effect.gen(function* () {
    yield* Ref.set(finished, true)
    for (const [name, capture] of yield* Ref.get(captures)) {
      const file = yield* append(name, capture, Redaction.applyBytes(options.redactor, capture.held))
      yield* keep(name, { ...capture, file, held: Redaction.NOTHING_HELD })
    }
  })

  return {
    write,
    finish,
    received: Effect.map(
      Ref.get(captures),
      (all) => new Map([...all].map(([name, { received }]) => [name, received] as const))
    )
  }
})
