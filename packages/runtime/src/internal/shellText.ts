/**
 * What is written to a persistent `sh` to run one command: POSIX text with the command, its variables and its stdin in
 * it, between marked frames on stdout and stderr. Nothing of it ever becomes an argument of a process.
 */
import { Redacted, Result } from "effect"
import type { EnvironmentVariables } from "../EnvironmentService.ts"
import { type Marker, printfMarker } from "./markedFrames.ts"

/** One word of a shell command, whatever it contains. */
export const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

export interface CommandText {
  /** Tells the frames of this command from those of others on the same shell. */
  readonly id: number
  readonly command: string
  readonly cwd: string
  readonly env: EnvironmentVariables
  readonly stdin: Uint8Array | undefined
}

/** Lines with which the shell frames a command's output; `…` is the id. */
export const Frame = {
  /** `[…` on both streams: what follows is output. */
  begin: "[",
  /** `]… <exit code>` on stdout, `]…` on stderr: it ended. */
  end: "]",
  /** `!…` on stdout: its directory could not be entered, it was not run. */
  notRun: "!",
  /** `?… <held>` on stdout after the end, only when asked for: `1` if a process still holds this shell's output. */
  held: "?"
} as const

/**
 * The text, or why the command cannot be run. The command runs in a subshell: it cannot change or end the shell, and the
 * shell's own messages ("Killed") go nowhere, so that stderr is the command's alone.
 */
export const renderCommand = (marker: Marker, request: CommandText): Result.Result<string, string> => {
  const variables: Array<string> = []
  for (const [name, value] of Object.entries(request.env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return Result.fail(`${name} is no name of a shell variable`)
    const text = Redacted.isRedacted(value) ? Redacted.value(value) : value
    if (text.includes("\0")) return Result.fail(`the value of ${name} contains a NUL byte`)
    variables.push(`export ${name}=${quote(text)}\n`)
  }
  if (request.command.includes("\0")) return Result.fail("the command contains a NUL byte")
  const mark = printfMarker(marker)
  const { id } = request
  const input = request.stdin === undefined ? "" : `${printBytes(request.stdin)} | `
  return Result.succeed(
    `printf '${mark}${Frame.begin}${id}\\n'; printf '${mark}${Frame.begin}${id}\\n' >&2\n` +
      // The redirections stand inside: dash loses those of a subshell that is alone in a group.
      `{ ${input}( exec 2>&4 4>&-${input === "" ? " </dev/null" : ""}\ncd -- ${quote(request.cwd)} || { printf '${mark}${Frame.notRun}${id}\\n'; exit 126; }\n` +
      variables.join("") +
      `eval ${quote(request.command)}\n` +
      `) ; } 4>&2 2>/dev/null\n` +
      `printf '${mark}${Frame.end}${id} %s\\n' $?; printf '${mark}${Frame.end}${id}\\n' >&2\n` +
      (mayLeaveProcesses(request.command) ? askHeld(mark, id) : "")
  )
}

/**
 * Whether a command may leave processes behind that still hold the shell's output, as far as its text shows. A later
 * command must not get their output among its own.
 */
export const mayLeaveProcesses = (command: string): boolean =>
  /(^|[^&<>])&($|[^&>])/.test(command) || /\b(setsid|nohup|daemon)\b/.test(command)

/** Looks for a holder: a child that was just forked holds the output until it has redirected its own. */
const LOOKS = 5

/** `-ef` of two descriptors of the same pipe or socket is true; it needs no fork. Whoever started the shell may hold them, too. */
const askHeld = (mark: string, id: number): string =>
  `buzz_look=0; while :; do buzz_look=$((buzz_look + 1)) buzz_held=0
for buzz_p in /proc/[0-9]*; do case $buzz_p in "/proc/$$" | "/proc/$PPID") continue ;; esac
for buzz_f in "$buzz_p/fd/1" "$buzz_p/fd/2"; do
if [ "$buzz_f" -ef "/proc/$$/fd/1" ] || [ "$buzz_f" -ef "/proc/$$/fd/2" ]; then buzz_held=1; break 2; fi; done; done
[ $buzz_held = 1 ] && [ $buzz_look -lt ${LOOKS} ] || break; sleep 0.01 2>/dev/null || break; done
printf '${mark}${Frame.held}${id} %s\\n' $buzz_held\n`

/** Bytes per `printf`; a shell handles a format of this size at once. */
const PRINTF_BYTES = 8192

/** A command that prints exactly `bytes`, by the shell's builtin `printf`. */
export const printBytes = (bytes: Uint8Array): string => {
  const parts: Array<string> = []
  for (let from = 0; from < bytes.length; from += PRINTF_BYTES) {
    let format = ""
    for (const byte of bytes.subarray(from, from + PRINTF_BYTES)) format += printfByte[byte]
    parts.push(`printf '${format}'`)
  }
  return `{ ${parts.length === 0 ? ":" : parts.join("; ")}; } 4>&-`
}

const printfByte: ReadonlyArray<string> = Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte)
  if (char === "%") return "%%"
  // A dash at the beginning would be an option.
  return byte >= 0x20 && byte < 0x7f && !"'\\-".includes(char) ? char : `\\${byte.toString(8).padStart(3, "0")}`
})
