/**
 * Colours of the terminal, as functions from text to text: either they paint or they do nothing.
 */

/** How kinds of words are set off. Each leaves the width of its text alone. */
export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly busy: (text: string) => string
}

const same = (text: string): string => text

/** No colours: for files, pipes, and people who set `NO_COLOR`. */
export const PLAIN: Style = { bold: same, dim: same, good: same, bad: same, busy: same }

const ESCAPE = String.fromCodePoint(0x1b)
const paint =
  (on: number, off: number) =>
  (text: string): string =>
    text === "" ? "" : `${ESCAPE}[${on}m${text}${ESCAPE}[${off}m`

/** The sixteen colours that every terminal theme defines. */
export const COLOURED: Style = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  good: paint(32, 39),
  bad: paint(31, 39),
  busy: paint(36, 39)
}

/** Colours only on a terminal that can show them, unless `NO_COLOR` is set to anything but the empty text (no-color.org). */
export const styleFor = (options: {
  readonly isTerminal: boolean
  readonly noColor: string | undefined
  readonly term: string | undefined
}): Style => (options.isTerminal && (options.noColor ?? "") === "" && options.term !== "dumb" ? COLOURED : PLAIN)
