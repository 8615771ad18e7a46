/**
 * What watches over a container that stays: when the harness is gone without a word, it ends there what the harness started.
 * A container that we made needs none of this: it ends as a whole. POSIX text for dash, bash and busybox.
 */

/** The word by which a harness that goes in good order says so. */
export const FAREWELL_WORD = "bye"

/** What it prints when the file is there that processes name themselves in. */
export const READY_WORD = "ready"

/** Looks at the process table before it gives up on what keeps forking. */
const PASSES = 50

/**
 * Makes `argv` name itself in a file before it begins, by pid and start time (field 22 of its stat): the shell of a command that
 * has no time limit yet when the harness dies would stay as long as the command.
 */
export const registered = (
  registry: string,
  argv: ReadonlyArray<string>
): readonly [string, ...ReadonlyArray<string>] => [
  "sh",
  "-c",
  'read -r stat </proc/$$/stat; echo "$$ $(set -- ${stat##*) }; echo ${20})" >>"$0"; exec "$@"',
  registry,
  ...argv
]

/**
 * Arguments: the file in which processes named themselves, then directories of the stack's programs. Ends by KILL what named
 * itself, what runs from one of the directories, as executable or as a script among the first two arguments, and all descendants:
 * the rule of the sweep, without its patience. Everything is stopped first, so that nothing forks away.
 */
export const GUARD_SCRIPT = `registry=$1
shift
( umask 0; : >"$registry" ) && echo ${READY_WORD}
if IFS= read -r word; then
  rm -f -- "$registry"
  exit
fi
set -f
nl='
'
born() {
  IFS= read -r stat 2>/dev/null <"/proc/$1/stat" && ( IFS=' '; set -- \${stat##*) }; echo \${20} )
}
named() {
  while IFS=' ' read -r pid start; do
    [ "$(born "$pid")" = "$start" ] && echo "$pid"
  done <"$registry"
}
from_bin() {
  LC_ALL=C ls -ln $(set +f; echo /proc/[0-9]*/exe) 2>/dev/null | while IFS= read -r line; do
    for bin; do
      case $line in *"/exe -> $bin/"*) pid=\${line#*" /proc/"}; echo "\${pid%%/*}" ;; esac
    done
  done
  for path in $(set +f; echo /proc/[0-9]*); do
    said=$nl$(tr '\\0' '\\n' <"$path/cmdline" 2>/dev/null | head -n 2)
    for bin; do
      case $said in *"$nl$bin/"*) echo "\${path#/proc/}" ;; esac
    done
  done
}
parents() {
  cat $(set +f; echo /proc/[0-9]*/stat) 2>/dev/null | while IFS= read -r line; do
    rest=\${line##*) }
    case $rest in Z* | X* | x*) continue ;; esac
    rest=\${rest#* }
    echo "\${line%% *} \${rest%% *}"
  done
}
stopped=' ' pass=0
while [ $pass -lt ${PASSES} ]; do
  pass=$((pass + 1)) fresh= grown=1
  tree=" $(echo $(named; from_bin "$@")) "
  rows=$(parents)
  IFS=$nl
  while [ -n "$grown" ]; do
    grown=
    for row in $rows; do
      case $tree in *" \${row% *} "*) continue ;; *" \${row#* } "*) tree="$tree\${row% *} " grown=1 ;; esac
    done
  done
  unset IFS
  for pid in $tree; do
    case "$stopped$$ " in *" $pid "*) continue ;; esac
    kill -STOP "$pid" 2>/dev/null && stopped="$stopped$pid " fresh=1
  done
  [ -n "$fresh" ] || break
done
for pid in $stopped; do kill -KILL "$pid" 2>/dev/null; done
rm -f -- "$registry"`
