/**
 * Keeps what messages quote from a document short.
 */

/** How many characters a message quotes. */
const MAX_QUOTED = 60

/** The text, or its beginning with dots. */
export const shorten = (text: string): string =>
  text.length <= MAX_QUOTED ? text : `${text.slice(0, MAX_QUOTED - 3).toWellFormed()}...`
