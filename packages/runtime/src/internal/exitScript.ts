/**
 * The shell that tells how a program ended, and how much it had said by then.
 */
import { type ExitStatus, parseExitStatus } from "./exitStatus.ts"
import { quote } from "./shellText.ts"

/**
 * Prints the exit code that the waiting shell leaves, which may take it a moment (nothing when it does not come), then the
 * size of each log.
 */
export const exitScript = (logs: string, name: string): string => {
  const exit = quote(`${logs}/${name}.exit`)
  const sizes = ["stdout", "stderr"].map((stream) => sizeOf(logs, `${name}.${stream}.log`))
  return [
    `n=20; while [ ! -s ${exit} ] && [ $n -gt 0 ]; do sleep 0.05; n=$((n - 1)); done`,
    `[ -s ${exit} ] && printf 'exit %s\\n' "$(cat ${exit})"`,
    ...sizes,
    ":"
  ].join("\n")
}

/** Prints the size of every log. */
export const sizesScript = (logs: string): string =>
  `cd ${quote(logs)} && for f in *.log; do [ -f "$f" ] && printf 'size %s %s\\n' "$(wc -c <"$f")" "$f"; done; :`

/** What the scripts printed. */
export const parseExit = (
  stdout: string
): { readonly status: ExitStatus; readonly sizes: ReadonlyMap<string, number> } => ({
  status: parseExitStatus(/^exit (\d+)$/m.exec(stdout)?.[1] ?? ""),
  sizes: parseSizes(stdout)
})

/** Bytes by file name. Some `wc` pad the number. */
export const parseSizes = (stdout: string): ReadonlyMap<string, number> =>
  new Map([...stdout.matchAll(/^size +(\d+) (.+)$/gm)].map(([, size = "", file = ""]) => [file, Number(size)] as const))

const sizeOf = (logs: string, file: string): string => {
  const path = quote(`${logs}/${file}`)
  return `[ -f ${path} ] && printf 'size %s %s\\n' "$(wc -c <${path})" ${quote(file)}`
}
