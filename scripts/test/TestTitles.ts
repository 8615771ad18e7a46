/**
 * The tests of a file by their titles, without running it. It relies on the formatter: what lies inside a group is indented
 * deeper than the group.
 */

/** A call whose first argument is a text, with everything before it on its line. */
const CALL = /^( *)([^\n]*?)\(\s*(?:"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/gm

/** `describe(…)`, `describe.skipIf(…)(…)`, `layer(…)(…)`. */
const GROUP = /^(?:describe|layer)\b/

/** `it(…)`, `it.effect(…)`, `it.each(…)(…)`, and the last line of cases that stand on several lines. */
const TEST = /^(?:it\b.*|\](?: as const)?\))$/

/** Tests that never run prove nothing. */
const NEVER = /\.(?:skip|todo)$/

/** A test of a file. */
export interface FoundTest {
  /** The titles on the way to it, its own last. Texts with `${…}` are kept as they are written. */
  readonly titles: ReadonlyArray<string>
  /** The line, from 0, on which its call or the end of its cases stands. */
  readonly line: number
}

/** The titles on the way to each test, its own last. */
export const testTitles = (source: string): ReadonlyArray<ReadonlyArray<string>> =>
  findTests(source).map(({ titles }) => titles)

/** Every test, in order. */
export const findTests = (source: string): ReadonlyArray<FoundTest> => {
  const tests: Array<FoundTest> = []
  const groups: Array<{ readonly indent: number; readonly title: string }> = []
  for (const { 1: spaces = "", 2: callee = "", 3: quoted, 4: template, index } of source.matchAll(CALL)) {
    while ((groups.at(-1)?.indent ?? -1) >= spaces.length) groups.pop()
    const isGroup = GROUP.test(callee)
    if (NEVER.test(callee) || (!isGroup && !TEST.test(callee))) continue
    const title = quoted === undefined ? (template ?? "").replaceAll("\\`", "`") : JSON.parse(`"${quoted}"`)
    if (isGroup) groups.push({ indent: spaces.length, title })
    else
      tests.push({
        titles: [...groups.map((group) => group.title), title],
        line: source.slice(0, index).split("\n").length - 1
      })
  }
  return tests
}
