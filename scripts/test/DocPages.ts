/**
 * The pages that people read: their links, their headings, and the command lines that they show.
 */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))

/** A page: its path from the root, and its text. */
export interface DocPage {
  readonly path: string
  readonly text: string
}

/** Every page of the repository. */
export const pages: ReadonlyArray<DocPage> = globSync(
  ["*.md", "docs/*.md", "packages/*/README.md", "examples/*/README.md"],
  { cwd: ROOT }
)
  .toSorted()
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }))

/** A line that begins or ends a block of code; the first word after the marks is its language. */
const FENCE = /^\s*```(\w*)/

/** The lines of a page, and of which block of code each is. */
const linesOf = (text: string) => {
  let language: string | undefined
  return text.split("\n").flatMap((line) => {
    const fence = FENCE.exec(line)
    if (fence === null) return [{ line, language }]
    language = language === undefined ? (fence[1] ?? "") : undefined
    return []
  })
}

const proseOf = ({ text }: DocPage): ReadonlyArray<string> =>
  linesOf(text).flatMap(({ language, line }) => (language === undefined ? [line] : []))

/** As GitHub makes an anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-")

/** The anchors of a page. A heading that stands again gets a number. */
const anchorsOf = (page: DocPage): ReadonlySet<string> => {
  const seen = new Map<string, number>()
  return new Set(
    proseOf(page).flatMap((line) => {
      const [, heading] = /^#{1,6} (.+)$/.exec(line) ?? []
      if (heading === undefined) return []
      const anchor = anchorOf(heading)
      const before = seen.get(anchor) ?? 0
      seen.set(anchor, before + 1)
      return [before === 0 ? anchor : `${anchor}-${before}`]
    })
  )
}

/** Links of the page that lead nowhere, within the repository. */
export const brokenLinks = (page: DocPage): ReadonlyArray<string> =>
  proseOf(page)
    .flatMap((line) => [...line.replaceAll(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)])
    .flatMap(([, target = ""]) => {
      if (/^[a-z]+:/.test(target)) return []
      const [file = "", anchor] = target.split("#")
      const path = file === "" ? page.path : normalize(join(dirname(page.path), file))
      if (!existsSync(join(ROOT, path))) return [target]
      if (anchor === undefined) return []
      const other = pages.find((each) => each.path === path)
      return other !== undefined && anchorsOf(other).has(anchor) ? [] : [target]
    })

/** A command line as it is typed: the words after the program. */
export interface ShownCommand {
  readonly line: string
  readonly args: ReadonlyArray<string>
}

/** The programs by which pages call the command. */
const PROGRAM = /^(?:buzz-orchestra|(?:npx |npm exec )@buzz-orchestra\/cli|node packages\/cli\/src\/bin\.ts)(?: |$)/

/** Command lines in blocks of code: after a prompt, or, where a block is a script, as they stand. */
export const shownCommands = (text: string): ReadonlyArray<ShownCommand> => {
  const variables = new Map<string, string>()
  return joined(linesOf(text)).flatMap(({ language, line }) => {
    const typed = /^\$ (.*)$/.exec(line)?.[1] ?? (language === "sh" ? line.trim() : undefined)
    if (typed === undefined) return []
    const [, name, value] = /^(?:export )?([A-Z_]+)=(?:"([^"]*)"|\S*)$/.exec(typed) ?? []
    if (name !== undefined) variables.set(name, value ?? "")
    const known = typed.replaceAll(/\$([A-Z_]+)/g, (whole, name: string) => variables.get(name) ?? whole)
    return callsIn(known)
  })
}

/** Lines that end in a backslash go on in the next. */
const joined = (lines: ReturnType<typeof linesOf>): ReturnType<typeof linesOf> => {
  const whole: ReturnType<typeof linesOf> = []
  for (const { language, line } of lines) {
    const last = whole.at(-1)
    if (last?.language !== undefined && last.line.endsWith("\\"))
      whole[whole.length - 1] = { language, line: `${last.line.slice(0, -1).trimEnd()} ${line.trim()}` }
    else whole.push({ language, line })
  }
  return whole
}

/** Calls of the command in a line of shell, which may hold pipes, lists, assignments, redirections and substitutions. */
export const callsIn = (text: string): ReadonlyArray<ShownCommand> =>
  parts(text)
    .map((part) =>
      part.replace(/^(?:[A-Za-z_]+=)?\$\(/, "").replace(/^(?:(?:[A-Z_]+=\S*|if|while|then|do|exec|!) +)*/, "")
    )
    .filter((part) => PROGRAM.test(part))
    .map((line) => ({ line, args: wordsOf(line.replace(PROGRAM, "")) }))

/** Split where another command begins, and cut where something else than words does; quotes hold together. */
const parts = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(?:'[^']*'|"[^"]*"|(?:^|(?<=\s))#.*|[^|&;'"])+/g)].map(([part]) =>
    part
      .replace(/(?:^|\s)#.*$/, "")
      .replace(/\s+[0-9]?[<>].*$/, "")
      .replace(/\)"?$/, "")
      .trim()
  )

const wordsOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word.replaceAll(/['"]/g, ""))
