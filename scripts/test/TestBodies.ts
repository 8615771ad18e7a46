/**
 * What stands in each test of a file, without running it. It relies on the formatter: a test ends where the text comes back to
 * the indentation that it began with, and the cases of a test stand in the statement that it is part of.
 */
import { findTests } from "./TestTitles.ts"

/** A test by the titles on the way to it, its own last. */
export interface TestBody {
  readonly titles: ReadonlyArray<string>
  /** Its statement, with the loop that it stands in and the list of cases that either runs for. */
  readonly body: string
}

const indentOf = (line: string): number => line.length - line.trimStart().length

/** The index of the line that closes what `start` opens. */
const closing = (lines: ReadonlyArray<string>, start: number): number => {
  const indent = indentOf(lines[start] ?? "")
  const next = lines.findIndex((line, index) => index > start && line.trim() !== "" && indentOf(line) <= indent)
  if (next === -1) return lines.length - 1
  if (!/^\s*[)\]}]/.test(lines[next] ?? "")) return next - 1
  // `] as const)(` closes the cases and opens the test itself.
  return /[([{]$/.test((lines[next] ?? "").replace(/\/\/.*/, "").trimEnd()) ? closing(lines, next) : next
}

/** The first line of the statement that a line is part of, loops around it included. */
const beginning = (lines: ReadonlyArray<string>, at: number): number => {
  let start = at
  while (/^\s*[\])]/.test(lines[start] ?? "")) {
    const indent = indentOf(lines[start] ?? "")
    start = lines.findLastIndex((line, index) => index < start && line.trim() !== "" && indentOf(line) === indent)
  }
  const indent = indentOf(lines[start] ?? "")
  const around = lines.findLastIndex((line, index) => index < start && line.trim() !== "" && indentOf(line) < indent)
  const opener = around === -1 || !/^\s*\]/.test(lines[around] ?? "") ? around : beginning(lines, around)
  return /^\s*for \(/.test(lines[opener] ?? "") ? opener : start
}

/** Names of lists that a statement takes its cases from: `for (const … of CASES)`, `it.each(CASES)(…)`. */
const CASES = /(?:\bof |\.each\()(\w+)\)/g

/** The declaration of a name in the file, nothing when it comes from elsewhere. */
const declaration = (lines: ReadonlyArray<string>, name: string): string => {
  const start = lines.findIndex((line) => new RegExp(`^\\s*const ${name}\\b`).test(line))
  return start === -1 ? "" : lines.slice(start, closing(lines, start) + 1).join("\n")
}

/** Every test of a file. */
export const testBodies = (source: string): ReadonlyArray<TestBody> => {
  const lines = source.split("\n")
  return findTests(source).map(({ line, titles }) => {
    const start = beginning(lines, line)
    const statement = lines.slice(start, closing(lines, start) + 1).join("\n")
    const cases = [...statement.matchAll(CASES)].map(([, name = ""]) => declaration(lines, name))
    return { titles, body: [...cases, statement].join("\n") }
  })
}
