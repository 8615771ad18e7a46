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

/** The titles on the way to each test, its own last. Texts with `${…}` are kept as they are written. */
export const testTitles = (source: string): ReadonlyArray<ReadonlyArray<string>> => {
  const tests: Array<ReadonlyArray<string>> = []
  const groups: Array<{ readonly indent: number; readonly title: string }> = []
  for (const [, spaces = "", callee = "", quoted, template] of source.matchAll(CALL)) {
    const title = quoted === undefined ? (template ?? "").replaceAll("\\`", "`") : JSON.parse(`"${quoted}"`)
    while ((groups.at(-1)?.indent ?? -1) >= spaces.length) groups.pop()
    if (GROUP.test(callee) && !NEVER.test(callee)) groups.push({ indent: spaces.length, title })
    else if (TEST.test(callee) && !NEVER.test(callee)) tests.push([...groups.map((group) => group.title), title])
  }
  return tests
}
