/**
 * How the `read_file` tool shows a file: numbered lines under a header. Pure.
 */

/** Lines shown when the model names no limit. */
export const DEFAULT_LIMIT = 2000

/** `path (lines a-b of n)` and `N:line` for each line from `offset` (0-based). A final newline starts no further line. */
export const render = (path: string, content: string, offset: number, limit: number): string => {
  const lines = content.split(/\r?\n/)
  if (lines.at(-1) === "") lines.pop()
  const shown = lines.slice(offset, offset + limit)
  const range = shown.length === 0 ? "no lines" : `lines ${offset + 1}-${offset + shown.length}`
  return [`${path} (${range} of ${lines.length})`, ...shown.map((line, index) => `${offset + index + 1}:${line}`)].join(
    "\n"
  )
}
