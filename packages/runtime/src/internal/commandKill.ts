/**
 * POSIX text that ends the command a persistent shell is running and leaves the shell alone. It is run by another shell of
 * the same environment, so that a limit holds although nobody outside is looking.
 */

import { HAS_PROC, PS_STATS } from "./processText.ts"

/** The shell whose command is meant. */
export interface ShellIdentity {
  readonly pid: number
  /** Its process group; 0 if it has none inside the environment. */
  readonly group: number
}

/** Passes over the process table before the text gives up on a command that keeps forking. */
const PASSES = 50

/**
 * Ends at once, by KILL: every descendant of the shell, and every later member of its process group (a command's child
 * that lost its parent). Processes that earlier commands left behind are older than the command and are spared. Everything is
 * stopped before anything is killed, so that nothing forks away.
 */
export const killCommand = (shell: ShellIdentity): string => `buzz_shell=${shell.pid} buzz_group=${shell.group}
${KILL_FUNCTION}
buzz_kill`

/**
 * Arms a time limit in the background and prints the pid to disarm. `seconds` may have a fraction; a `sleep` that knows only
 * whole seconds gets the next one.
 */
export const armLimit = (
  shell: ShellIdentity,
  seconds: number
): string => `buzz_shell=${shell.pid} buzz_group=${shell.group}
${KILL_FUNCTION}
buzz_wait() {
  sleep $1 &
  wait $!
}
{
  # What is in the background is known at once; a variable of our own would be set a moment later.
  buzz_before=$!
  trap '[ "$!" = "$buzz_before" ] || kill -9 $! 2>/dev/null; exit 0' TERM
  buzz_wait ${seconds.toFixed(3)} || buzz_wait ${Math.ceil(seconds)} || exit
  trap '' TERM
  buzz_kill
} </dev/null >/dev/null 2>&1 &
echo $!`

/**
 * Ends an armed limit and its sleep. Returns only when it is gone: a limit that was just about to fire must not meet the next
 * command of the same shell.
 */
export const disarmLimit = (pid: number): string => `kill -TERM ${pid} 2>/dev/null
n=0
while [ $n -lt 100 ] && kill -0 ${pid} 2>/dev/null; do
  # A zombie is still there for kill; without /proc the killer's shell has no zombies but for a moment.
  read -r s 2>/dev/null </proc/${pid}/stat || s=
  case \${s##*) } in Z* | X*) break ;; esac
  n=$((n + 1))
  sleep 0.01 2>/dev/null || sleep 1
done`

/**
 * Reads the process table in one fork and works on text from there; a name may contain line breaks, so that an incomplete line goes
 * on in the next. `first` is when the oldest child of the shell, the command itself, began; the kernel counts in ticks of 10 ms,
 * and within one the greater pid is the later.
 */
const KILL_FUNCTION = `${PS_STATS}
buzz_kill() {
  nl='
'
  set -f
  first= stopped=' ' pass=0 begun=
  while [ $pass -lt ${PASSES} ]; do
    pass=$((pass + 1)) rows= fresh=
    IFS=$nl
    for line in $(if ${HAS_PROC}; then set +f; cat /proc/[0-9]*/stat 2>/dev/null; else ps_stats; fi); do
      line=$begun$line begun=
      pid=\${line%% *}
      IFS=' '
      set -- \${line##*) }
      IFS=$nl
      if [ $# -lt 20 ]; then
        begun="$line "
        continue
      fi
      case $1 in Z | X | x) continue ;; esac
      rows="$rows$nl$pid $2 $3 \${20}"
      if [ "$2" = $buzz_shell ] && [ $pass -eq 1 ]; then
        if [ -z "$first" ] || [ \${20} -lt $first ]; then first=\${20} eldest=$pid; fi
      fi
    done
    [ -n "$first" ] || break
    tree=" $buzz_shell " grown=1
    while [ -n "$grown" ]; do
      grown=
      for row in $rows; do
        IFS=' '
        set -- $row
        IFS=$nl
        case $tree in *" $1 "*) continue ;; esac
        if [ $buzz_group -ne 0 ] && [ $3 -eq $buzz_group ]; then
          if [ $4 -gt $first ] || { [ $4 -eq $first ] && [ $1 -gt $eldest ]; }; then tree="$tree$1 " grown=1; fi
        fi
        case $tree in *" $1 "*) continue ;; *" $2 "*) tree="$tree$1 " grown=1 ;; esac
      done
    done
    IFS=' '
    for pid in \${tree#" $buzz_shell "}; do
      case $stopped in *" $pid "*) continue ;; esac
      kill -STOP $pid 2>/dev/null
      stopped="$stopped$pid " fresh=1
    done
    [ -n "$fresh" ] || break
  done
  IFS=' '
  for pid in $stopped; do kill -KILL $pid 2>/dev/null; done
}`
