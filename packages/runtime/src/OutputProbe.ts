/**
 * The output that the condition `M1-hello-world` asks for. Checked as its grader checks it, before anyone calls the trial
 * a success; no other condition is probed. Pure: the runtime reads the file.
 */

/** The only condition whose output is known. */
export const M1_CONDITION = "M1-hello-world"

/** A file that must be there after the trial, and what must be in it. */
export interface OutputProbe {
  /** Absolute path inside the environment. */
  readonly path: string
  readonly expected: string
}

/** What to look for after a trial of `condition`; `undefined` when its output is not ours to judge. */
export const outputProbe = (condition: string, workDirectory: string): OutputProbe | undefined =>
  condition === M1_CONDITION ? { path: `${workDirectory}/hello.txt`, expected: "Hello, world!" } : undefined

/**
 * What Python's `str.strip` takes for white space, since the grader is Python: JavaScript's `trim` also takes a byte order
 * mark, and leaves the separators U+001C to U+001F and U+0085.
 */
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]"
const AROUND = new RegExp(`^${SPACE}+|${SPACE}+$`, "g")

/** Whether the file's text, without the white space around it, is what was asked for. */
export const satisfies = (probe: OutputProbe, text: string): boolean => text.replace(AROUND, "") === probe.expected
