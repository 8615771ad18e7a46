/**
 * Repainting a block of lines at the bottom of a terminal, in plain ANSI. Pure: what to write to get from one picture to
 * the next, in one piece and only when something changed, so that nothing flickers.
 */
import { width } from "./internal/terminalText.ts"

const ESCAPE = String.fromCodePoint(0x1b)
/** Terminals that know it show everything up to the end mark at once; others ignore it. */
const SYNC_BEGIN = `${ESCAPE}[?2026h`
const SYNC_END = `${ESCAPE}[?2026l`
const CLEAR_LINE_REST = `${ESCAPE}[K`
const CLEAR_BELOW = `${ESCAPE}[J`

/** Makes the cursor visible again. */
export const CURSOR_SHOWN = `${ESCAPE}[?25h`

/** Hides the cursor, which would jump about in the block. */
export const CURSOR_HIDDEN = `${ESCAPE}[?25l`

/** What stands at the bottom of the terminal: its lines, and how wide the terminal was when they were painted. */
export interface Picture {
  readonly lines: ReadonlyArray<string>
  readonly columns: number
}

/** An empty terminal. */
export const BLANK: Picture = { lines: [], columns: 1 }

/**
 * What to write so that `before` is replaced by the lines `above`, which scroll away, and `after` below them. Empty when
 * nothing changes. The cursor is at the start of the line below the picture before and after.
 */
export const repaint = (before: Picture, above: ReadonlyArray<string>, after: Picture): string => {
  if (above.length === 0 && same(before, after)) return ""
  const up = rowsOf(before, after.columns)
  const home = up === 0 ? "\r" : `\r${ESCAPE}[${up}A`
  const text = [...above, ...after.lines].map((line) => `${line}${CLEAR_LINE_REST}\n`).join("")
  return `${SYNC_BEGIN}${home}${text}${CLEAR_BELOW}${SYNC_END}`
}

/** A terminal that got narrower has wrapped the old lines; they take more rows now. */
const rowsOf = (picture: Picture, columns: number): number =>
  picture.lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(width(line) / columns)), 0)

const same = (a: Picture, b: Picture): boolean =>
  (a.lines.length === 0 || a.columns === b.columns) &&
  a.lines.length === b.lines.length &&
  a.lines.every((line, index) => line === b.lines[index])
