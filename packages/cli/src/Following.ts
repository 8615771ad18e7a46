/**
 * Shows a trial while it runs: a repainted block on a terminal, a line per change elsewhere, NDJSON for programs.
 */
import type { TrialEvent } from "@buzz-orchestra/runtime/TrialEvent"
import { TrialEvents } from "@buzz-orchestra/runtime/TrialEvents"
import { Clock, Effect, Fiber, Ref, type Scope, Stream } from "effect"
import { everyLine, lastingLine } from "./EventLines.ts"
import { eventLine } from "@buzz-orchestra/runtime/EventLine"
import { initial, type LiveModel, update } from "./LiveView.ts"
import { Output } from "./Output.ts"
import { render } from "./Render.ts"
import { BLANK, CURSOR_HIDDEN, CURSOR_SHOWN, type Picture, repaint } from "./Screen.ts"

/** How a trial is shown. */
export type FollowMode = "block" | "lines" | "json"

/** A trial being shown. */
export interface Following {
  /** Shows a line of the command's own, such as what a signal started. */
  note(text: string): Effect.Effect<void>
  /** Shows what is still to be shown, takes the block away, and returns what is known. Call it once, when the trial is over. */
  readonly finish: Effect.Effect<LiveModel>
}

/** Often enough to look alive, rarely enough to cost nothing. */
const REPAINT_EVERY = "100 millis"

/** Everything is published when a trial returns, so this only bounds a reader that fell behind. */
const FINISH_LIMIT = "1 second"

interface Shown {
  readonly model: LiveModel
  /** Lines that are due above the block. */
  readonly above: ReadonlyArray<string>
}

/**
 * Follows the trial of `TrialEvents` until it ends; the scope owns the fibers. `scrub` takes known secrets out of every
 * line.
 */
export const follow = Effect.fn("Following.follow")(function* (
  mode: FollowMode,
  scrub: (text: string) => string
): Effect.fn.Return<Following, never, Output | TrialEvents | Scope.Scope> {
  const output = yield* Output
  const events = yield* TrialEvents
  const shown = yield* Ref.make<Shown>({ model: initial, above: [] })
  const picture = yield* Ref.make<Picture>(BLANK)

  const lines = (model: LiveModel, event: TrialEvent): ReadonlyArray<string> => {
    if (mode === "json") return [eventLine(event)]
    return mode === "lines" ? everyLine(model, event, output.style) : lastingLine(model, event, output.style)
  }
  const meet = (event: TrialEvent) =>
    Ref.update(shown, ({ model, above }) => ({
      model: update(model, event),
      above: [...above, ...lines(model, event).map(scrub)]
    })).pipe(Effect.andThen(mode === "block" ? Effect.void : print))

  const take = Ref.modify(shown, (state) => [state, { ...state, above: [] }])
  const print = Effect.flatMap(take, ({ above }) =>
    above.length === 0 ? Effect.void : output.write(`${above.join("\n")}\n`)
  )
  const paint = Effect.fnUntraced(function* (block: boolean) {
    const { above, model } = yield* take
    const { columns, rows } = yield* output.size
    const now = yield* Clock.currentTimeMillis
    const after = {
      columns,
      lines: block ? render(model, { columns, rows, now, style: output.style }).map(scrub) : []
    }
    const text = repaint(yield* Ref.getAndSet(picture, after), above, after)
    if (text !== "") yield* output.write(text)
  })

  const reading = yield* events.stream.pipe(
    Stream.takeUntil((event) => event._tag === "TrialEnded"),
    Stream.runForEach(meet),
    Effect.forkScoped
  )
  const insert = (text: string) =>
    Ref.update(shown, (state) => ({ ...state, above: [...state.above, ...text.trimEnd().split("\n").map(scrub)] }))
  const painting = yield* Effect.gen(function* () {
    if (mode !== "block") return undefined
    yield* output.write(CURSOR_HIDDEN)
    yield* output.divertErrors(insert)
    yield* Effect.addFinalizer(() => Effect.andThen(output.divertErrors(undefined), output.write(CURSOR_SHOWN)))
    return yield* paint(true).pipe(Effect.delay(REPAINT_EVERY), Effect.forever, Effect.forkScoped)
  })
  const removeBlock = (painting: Fiber.Fiber<never>) =>
    Effect.all([Fiber.interrupt(painting), output.divertErrors(undefined), paint(false)], { discard: true })
  return {
    note: (text) => (mode === "block" ? insert(text) : output.writeError(`${text}\n`)),
    finish: Fiber.await(reading).pipe(
      Effect.timeoutOrElse({ duration: FINISH_LIMIT, orElse: () => Fiber.interrupt(reading) }),
      Effect.andThen(painting === undefined ? print : removeBlock(painting)),
      Effect.andThen(Ref.get(shown)),
      Effect.map(({ model }) => model)
    )
  }
})
