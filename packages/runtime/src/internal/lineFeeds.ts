/** A line feed. */
export const LINE_FEED = 10

/** How many line feeds stand before `end`. Pure. */
export const lineFeeds = (bytes: Uint8Array, end: number): number => {
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED); at !== -1 && at < end; at = bytes.indexOf(LINE_FEED, at + 1)) count++
  return count
}
