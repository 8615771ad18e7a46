/**
 * What a shell's exit code says about how a program ended. Pure.
 */

/** Signals by number, as on Linux for x86-64 and arm64. */
const SIGNALS: ReadonlyMap<number, string> = new Map([
  [1, "SIGHUP"],
  [2, "SIGINT"],
  [3, "SIGQUIT"],
  [4, "SIGILL"],
  [6, "SIGABRT"],
  [7, "SIGBUS"],
  [8, "SIGFPE"],
  [9, "SIGKILL"],
  [11, "SIGSEGV"],
  [13, "SIGPIPE"],
  [14, "SIGALRM"],
  [15, "SIGTERM"],
  [24, "SIGXCPU"],
  [25, "SIGXFSZ"],
  [31, "SIGSYS"]
])

/** How a program ended: by a code of its own or by a signal. */
export interface ExitStatus {
  readonly exitCode: number | undefined
  readonly signal: string | undefined
  /** In words. */
  readonly detail: string
}

/** From the text of an exit file; a shell writes 128 + n for signal n. Empty when nobody was left to write it. */
export const parseExitStatus = (text: string): ExitStatus => {
  const [, digits] = /^(\d{1,3})\s*$/.exec(text) ?? []
  if (digits === undefined) return { exitCode: undefined, signal: undefined, detail: "its process is gone" }
  const code = Number(digits)
  if (code <= 128) return { exitCode: code, signal: undefined, detail: `exited with code ${code}` }
  const signal = SIGNALS.get(code - 128) ?? `signal ${code - 128}`
  return { exitCode: undefined, signal, detail: `ended by ${signal}` }
}

/** A shell's codes for a program that it could not start: not executable, not found. */
export const couldNotStart = (exitCode: number | undefined): boolean => exitCode === 126 || exitCode === 127
