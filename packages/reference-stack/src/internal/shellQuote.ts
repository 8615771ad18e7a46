/** Quotes for `sh`: the word comes out of the shell as it went in. */
export const shellQuote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
