/**
 * Which files of a directory an image build does not see, as `.dockerignore` says. Pure. The rules are those of
 * docs.docker.com/build/concepts/context/#dockerignore-files: the last pattern that fits decides, and a pattern that fits a
 * directory fits everything in it.
 */

interface Pattern {
  readonly negated: boolean
  readonly matches: RegExp
}

/** The patterns of a `.dockerignore`, in order. */
export interface DockerIgnore {
  /** Whether this path, relative to the directory and with slashes, is left out. */
  readonly excludes: (path: string) => boolean
  /** Whether something in an excluded directory may be in after all. */
  readonly hasExceptions: boolean
}

/** Reads the text of a `.dockerignore`; an empty text excludes nothing. A pattern that cannot be read fits nothing. */
export const parseDockerIgnore = (text: string): DockerIgnore => {
  const patterns = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .flatMap((line) => parsePattern(line.trim()))
  const excludes = (path: string) => {
    const parts = path.split("/")
    const withParents = parts.map((_, at) => parts.slice(0, at + 1).join("/"))
    let excluded = false
    for (const { matches, negated } of patterns) {
      if (excluded === negated && withParents.some((each) => matches.test(each))) excluded = !negated
    }
    return excluded
  }
  return { excludes, hasExceptions: patterns.some(({ negated }) => negated) }
}

const parsePattern = (line: string): ReadonlyArray<Pattern> => {
  const negated = line.startsWith("!")
  const path = clean(negated ? line.slice(1).trim() : line)
  if (path === "") return []
  try {
    return [{ negated, matches: new RegExp(toRegExp(path), "s") }]
  } catch {
    return []
  }
}

/** As Go's `filepath.Clean`, without a leading slash. */
const clean = (path: string): string => {
  const parts: Array<string> = []
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue
    if (part === "..") parts.pop()
    else parts.push(part)
  }
  return parts.join("/")
}

const toRegExp = (pattern: string): string => {
  let source = ""
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] as string
    if (pattern.startsWith("**", at)) {
      at += pattern[at + 2] === "/" ? 2 : 1
      source += at + 1 >= pattern.length ? ".*" : "(.*/)?"
    } else if (char === "*") source += "[^/]*"
    else if (char === "?") source += "[^/]"
    else if (char === "[") {
      const end = pattern.indexOf("]", at + 2)
      if (end < 0) throw new SyntaxError("a class without an end")
      source += pattern.slice(at, end + 1)
      at = end
    } else if (char === "\\" && at + 1 < pattern.length) source += escape(pattern[++at] as string)
    else source += escape(char)
  }
  return `^${source}$`
}

const escape = (char: string): string => char.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
