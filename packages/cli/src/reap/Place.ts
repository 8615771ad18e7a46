/**
 * Somewhere a killed harness may have left something: this machine, a container engine. Each is asked in the same way and
 * answers in the same words. Pure but for the asking.
 */
import type { Effect } from "effect"
import { clip, oneLine } from "../internal/terminalText.ts"
import type { Style } from "../Style.ts"

/** Something that carries our marks. */
export interface Thing {
  /** `process`, `directory`, `container`, `network`, `volume` or `image`. */
  readonly kind: string
  /** Tells it from others of its kind: a pid, a path, a name. */
  readonly name: string
  /** What a person knows it by, such as a process's command; empty where the name says it all. */
  readonly label: string
  /** Why it may be removed, or why not; a sentence's end, such as `its owner, process 4242, is gone`. */
  readonly why: string
}

/** What was done in one place. */
export interface PlaceReport {
  /** Gone; in a dry run, what would be. */
  readonly removed: ReadonlyArray<Thing>
  readonly kept: ReadonlyArray<Thing>
  /** Still there although its owner is gone. */
  readonly refused: ReadonlyArray<Thing & { readonly detail: string }>
}

/** A place that is not there has nothing of ours; the reason why it is not. */
export interface Absent {
  readonly absent: string
}

/** A place that can be asked. */
export interface Place<R> {
  /** Such as `this machine`. */
  readonly name: string
  readonly reap: (dryRun: boolean) => Effect.Effect<PlaceReport | Absent, never, R>
}

/** Columns of a command or name that is listed. */
const LABEL_COLUMNS = 80

const thing = ({ kind, label, name, why }: Thing): string =>
  `${kind} ${oneLine(name)}${label === "" ? "" : ` (${clip(oneLine(label), LABEL_COLUMNS)})`}: ${oneLine(why)}`

/**
 * The lines of one place: what was done first, then what was left alone; when something is done, only how many those are. Whoever
 * has no engine does not want to hear of it each time.
 */
export const placeLines = (report: PlaceReport | Absent, dryRun: boolean, style: Style): ReadonlyArray<string> => {
  if ("absent" in report) return []
  const { kept, refused, removed } = report
  return [
    ...removed.map((one) => `${style.good(dryRun ? "would remove" : "removed")} ${thing(one)}`),
    ...refused.map((one) => `${style.bad("not removed")} ${thing(one)}, but ${oneLine(one.detail)}`),
    ...(dryRun ? kept.map((one) => `${style.dim("kept")} ${thing(one)}`) : keptLine(kept.length))
  ]
}

const keptLine = (count: number): ReadonlyArray<string> =>
  count === 0 ? [] : [`${count} left alone; --dry-run says why`]
