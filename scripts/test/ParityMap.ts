/**
 * `docs/parity.md` as data. The page is the only place where the map is written down, so it is read as strictly as a format:
 * one table per `##` heading, four cells per row.
 */

/** What became of one fact of the earlier harness. */
export interface ParityRow {
  readonly section: string
  /** In a code span of its own. */
  readonly name: string
  readonly holds: string
  readonly status: string
  /** The last cell as it is written. */
  readonly rest: string
}

/** A test as the page names it. */
export interface TestReference {
  /** Relative to the root of the project. */
  readonly file: string
  /** Titles of the groups around it, the outermost first, then its own. */
  readonly titles: ReadonlyArray<string>
}

/** The rows of every table below a `##` heading, in order. */
export const parseMap = (page: string): ReadonlyArray<ParityRow> => {
  let section: string | undefined
  const rows: Array<ParityRow> = []
  for (const line of page.split("\n")) {
    const heading = /^## (.+)$/.exec(line)?.[1]
    if (heading !== undefined) section = heading
    if (section === undefined || !line.startsWith("| ") || line.startsWith("| name ")) continue
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    if (cells.length !== 6) throw new Error(`not a row of four cells: ${line}`)
    const [, name = "", holds = "", status = "", rest = ""] = cells
    rows.push({ section, name: /^`(\w+)`$/.exec(name)?.[1] ?? name, holds, status, rest: rest.replaceAll("\\|", "|") })
  }
  return rows
}

/** The tests in the last cell of a row, or `undefined` when something else stands there. */
export const testsOf = ({ rest }: ParityRow): ReadonlyArray<TestReference> | undefined => {
  const references = rest.split("<br>").map((part) => {
    const [file, ...titles] = /^`([^`]+)`$/.exec(part)?.[1]?.split(" › ") ?? []
    const [, directory, path] = /^(\w[\w-]*)\/([\w./-]+\.test\.ts)$/.exec(file ?? "") ?? []
    return titles.length === 0 ? undefined : { file: `packages/${directory}/test/${path}`, titles }
  })
  return references.every((reference) => reference !== undefined) ? references : undefined
}

/** The row that took the place of this one: a reason begins with "by", its name, a colon. */
export const successorOf = ({ rest }: ParityRow): string | undefined => /^by `(\w+)`: ./.exec(rest)?.[1]
