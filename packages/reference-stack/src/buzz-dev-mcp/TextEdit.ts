/**
 * Replaces a text within a text and shows what changed as a unified diff. Pure.
 */
import { Result } from "effect"

/** A replacement to make. */
export interface Replacement {
  readonly oldText: string
  readonly newText: string
  /** Every occurrence; otherwise there must be exactly one. */
  readonly all: boolean
}

/** The text after a replacement, and the diff that leads to it. */
export interface Edited {
  readonly content: string
  readonly diff: string
}

/** Makes the replacement. `path` stands in the head of the diff only. The failure says what is wrong with the replacement. */
export const replace = (path: string, content: string, replacement: Replacement): Result.Result<Edited, string> => {
  const { all, newText, oldText } = replacement
  if (oldText === "") return Result.fail("old_str must not be empty")
  if (oldText === newText) return Result.fail("old_str and new_str are the same")
  const starts = occurrences(content, oldText)
  if (starts.length === 0) return Result.fail(`old_str not found in ${path}`)
  if (starts.length > 1 && !all)
    return Result.fail(
      `old_str occurs ${starts.length} times in ${path}: make it unique by more of its surroundings, or set replace_all`
    )
  const blocks = changedBlocks(content, starts, replacement)
  return Result.succeed({
    content: content.split(oldText).join(newText),
    diff: [`--- a/${path}`, `+++ b/${path}`, ...hunks(lines(content), blocks)].join("\n")
  })
}

const occurrences = (content: string, text: string): ReadonlyArray<number> => {
  const starts: Array<number> = []
  for (let at = content.indexOf(text); at !== -1; at = content.indexOf(text, at + text.length)) starts.push(at)
  return starts
}

/** Whole lines, each with its newline; the last one may have none. */
const lines = (text: string): ReadonlyArray<string> => text.match(/[^\n]*\n|[^\n]+/g) ?? []

/** Lines that become other lines. */
interface Block {
  /** The first of them, from 0. */
  readonly first: number
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
}

const changedBlocks = (content: string, starts: ReadonlyArray<number>, replacement: Replacement) => {
  const all = lines(content)
  const touched: Array<{ readonly first: number; readonly last: number }> = []
  const lineAt = lineFinder(all)
  for (const start of starts) {
    const first = lineAt(start)
    // A newline that is replaced joins the line that follows, so that line is part of the change.
    const last = lineAt(start + replacement.oldText.length)
    const before = touched.at(-1)
    if (before !== undefined && first <= before.last) touched.splice(-1, 1, { first: before.first, last })
    else touched.push({ first, last })
  }
  return touched.map(({ first, last }) => {
    const before = all.slice(first, last + 1)
    return trimmed({
      first,
      before,
      after: lines(before.join("").split(replacement.oldText).join(replacement.newText))
    })
  })
}

/** Finds the line of an offset; the offsets that it is asked for never fall. Behind the end it is the last line. */
const lineFinder = (all: ReadonlyArray<string>) => {
  let line = 0
  let start = 0
  return (offset: number): number => {
    while (line < all.length - 1 && start + (all[line]?.length ?? 0) <= offset) {
      start += all[line]?.length ?? 0
      line += 1
    }
    return line
  }
}

/** Without the lines at both ends that stay as they are. */
const trimmed = ({ after, before, first }: Block): Block => {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head += 1
  let tail = 0
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  return {
    first: first + head,
    before: before.slice(head, before.length - tail),
    after: after.slice(head, after.length - tail)
  }
}

/** Unchanged lines shown around a change. */
const CONTEXT = 3

const hunks = (all: ReadonlyArray<string>, blocks: ReadonlyArray<Block>): ReadonlyArray<string> => {
  const groups: Array<Array<Block>> = []
  for (const block of blocks) {
    const last = groups.at(-1)?.at(-1)
    if (last !== undefined && block.first - (last.first + last.before.length) <= 2 * CONTEXT) groups.at(-1)?.push(block)
    else groups.push([block])
  }
  let shift = 0
  return groups.flatMap((group) => {
    const [text, grown] = hunk(all, group, shift)
    shift += grown
    return text
  })
}

/** One hunk, and by how many lines the text after it has moved on. */
const hunk = (all: ReadonlyArray<string>, group: ReadonlyArray<Block>, shift: number) => {
  const last = group.at(-1)
  const from = Math.max(0, (group[0]?.first ?? 0) - CONTEXT)
  const to = Math.min(all.length, (last === undefined ? 0 : last.first + last.before.length) + CONTEXT)
  const body: Array<string> = []
  let at = from
  let grown = 0
  for (const { after, before, first } of group) {
    body.push(...marked(" ", all.slice(at, first)), ...marked("-", before), ...marked("+", after))
    at = first + before.length
    grown += after.length - before.length
  }
  body.push(...marked(" ", all.slice(at, to)))
  const head = `@@ -${range(from, to - from)} +${range(from + shift, to - from + grown)} @@`
  return [[head, ...body], grown] as const
}

/** A range of no lines is named by the line before it. */
const range = (from: number, count: number): string => `${count === 0 ? from : from + 1},${count}`

const marked = (mark: string, part: ReadonlyArray<string>): ReadonlyArray<string> =>
  part.flatMap((line) =>
    line.endsWith("\n") ? [`${mark}${line.slice(0, -1)}`] : [`${mark}${line}`, "\\ No newline at end of file"]
  )
