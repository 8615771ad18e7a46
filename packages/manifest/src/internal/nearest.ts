/**
 * Finds the word that was probably meant.
 */

/** Longer words are no misspelt field names, and comparing them costs their square. */
const MAX_WORD = 64

/** The candidate that differs from `word` by the fewest letters, if by no more than a third of them. */
export const nearest = (word: string, candidates: ReadonlyArray<string>): string | undefined => {
  if (word.length > MAX_WORD) return undefined
  const [best] = candidates
    .map((candidate) => ({ candidate, edits: distance(word, candidate) }))
    .filter(({ edits }) => edits <= Math.max(1, Math.floor(word.length / 3)))
    .toSorted((a, b) => a.edits - b.edits)
  return best?.candidate
}

/** Levenshtein's distance, row by row. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (a[i] === b[j] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}
