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

/** Whether the file's text, without the white space around it, is what was asked for. */
export const satisfies = (probe: OutputProbe, text: string): boolean => text.trim() === probe.expected
