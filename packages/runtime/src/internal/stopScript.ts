/**
 * The shell that ends one program of the stack, and only that one.
 */
import { STAT_OF } from "./processText.ts"

/**
 * TERM, at most `graceMillis` to go, then KILL. A process counts as the program only while its start time is the one seen
 * (field 22 of `/proc/<pid>/stat`; pids are used again) and it is no zombie.
 */
export const stopScript = (program: {
  readonly pid: number
  readonly startTime: string
  readonly graceMillis: number
}): string => `
alive() {
  stat_of ${program.pid} || return 1
  set -- \${stat##*) }
  case $1 in Z|X|x) return 1 ;; esac
  shift 19
  [ "$1" = "${program.startTime}" ]
}
${STAT_OF}
alive && kill -TERM ${program.pid}
n=${Math.ceil(program.graceMillis / 50)}
while alive && [ $n -gt 0 ]; do sleep 0.05; n=$((n - 1)); done
alive && kill -KILL ${program.pid}
:
`
