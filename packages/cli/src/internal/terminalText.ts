/**
 * Text that others wrote, made safe and measurable for a terminal. Agents write what they like, escape sequences included.
 */

const ESCAPE = String.fromCodePoint(0x1b)
const BELL = String.fromCodePoint(0x07)
/** CSI, OSC (ended by BEL or ST) and two-byte sequences. */
const SEQUENCES = new RegExp(
  `${ESCAPE}\\[[0-?]*[ -/]*[@-~]|${ESCAPE}\\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\\\)?|${ESCAPE}[ -~]`,
  "g"
)
/** Bidirectional overrides: they can make a line read as something it is not. */
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

/** One line: no escape sequences, no control characters, no bidirectional overrides, white space folded. */
export const oneLine = (text: string): string =>
  text
    .replace(SEQUENCES, "")
    .replace(/\s+/gu, " ")
    .replace(/\p{Cc}/gu, "")
    .replace(BIDI, "")
    .trim()

const clusterWidth = (cluster: string): number => (ZERO.test(cluster) ? 0 : WIDE.test(cluster) ? 2 : 1)

/** Columns that `text` takes in a terminal. Escape sequences take none. */
export const width = (text: string): number => {
  let columns = 0
  for (const { segment } of graphemes.segment(text.replace(SEQUENCES, ""))) columns += clusterWidth(segment)
  return columns
}

/** The longest head of `text` that fits `columns`; ends in `…` when something was cut. For text without escapes. */
export const clip = (text: string, columns: number): string => {
  if (width(text) <= columns) return text
  if (columns < 1) return ""
  let head = ""
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    const next = used + clusterWidth(segment)
    if (next > columns - 1) break
    head += segment
    used = next
  }
  return `${head}…`
}

/** `text` in lines of at most `columns`, broken at spaces; the last of at most `limit` lines ends in `…` when there is more. */
export const wrap = (text: string, columns: number, limit: number): ReadonlyArray<string> => {
  const lines: Array<string> = [""]
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? ""
    const longer = line === "" ? word : `${line} ${word}`
    if (width(longer) <= columns || line === "") lines[lines.length - 1] = longer
    else lines.push(word)
  }
  const shown = lines.length <= limit ? lines : [...lines.slice(0, limit - 1), lines.slice(limit - 1).join(" ")]
  return shown.map((line) => clip(line, columns))
}

/** `text` followed by spaces up to `columns`. */
export const padEnd = (text: string, columns: number): string => text + " ".repeat(Math.max(0, columns - width(text)))

/** Spaces, then `text`, `columns` wide. */
export const padStart = (text: string, columns: number): string => " ".repeat(Math.max(0, columns - width(text))) + text

/** A span of time in words: `0.4 s`, `12 s`, `2 min 05 s`, `1 h 04 min`. */
export const duration = (millis: number): string => {
  const clamped = Math.max(0, millis)
  if (clamped < 9_950) return `${(clamped / 1000).toFixed(1)} s`
  const seconds = Math.round(clamped / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, "0")} s`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`
}

/** The same in whole seconds, for ages that tick: `4 s`, `2 min 05 s`. */
export const age = (millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / 1000))
  return seconds < 10 ? `${seconds} s` : duration(seconds * 1000)
}

/** A count with thousands separated: `12,345`. */
export const count = (n: number): string => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",")
