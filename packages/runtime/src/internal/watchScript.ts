/**
 * The process inside an environment that follows logs and processes: POSIX text for dash, bash and busybox.
 *
 * An idle round costs two forks however many files there are: `ls` for all sizes and `sleep`.
 * `wc -c` would do for the sizes, but busybox reads a file to count it (0.7 s for 100 MB, every round). A log that grew
 * costs two more, `tail` and `head`. Text is split by IFS: a shell needs a second power of its length to cut it by a pattern.
 *
 * The marker comes through stdin, never as an argument: whoever could read it could forge what other agents said. When stdin ends
 * or stdout breaks the process ends, so it does not outlive whoever watches.
 */
import { HAS_PROC, PROC_STAT, PS_STATS } from "./processText.ts"

/** Pause between two rounds, in seconds. */
export const ROUND_SECONDS = 0.05

/** The same once nothing has happened for `IDLE_ROUNDS`: a team that thinks for minutes is not to be disturbed by forks. */
const IDLE_SECONDS = 0.2

const IDLE_ROUNDS = 20

/** The same where each round takes a `ps`, which looks at every process of the machine. */
const PS_ROUND_SECONDS = 0.25

/** Bytes read of one log per round, so that one that is flooded does not hold up the others. */
export const CHUNK_BYTES = 4 * 1024 * 1024

/**
 * Frames, each `<marker><line>\n`: `L <offset> <length> <file>`, followed by the bytes; `P <pid> <state> <start time> <name>` when a
 * process is new or changed, with `-` for what is not there; `R <round>` when a round is complete.
 */
export const WATCH_SCRIPT = `LC_ALL=C
export LC_ALL
unset TIME_STYLE QUOTING_STYLE BLOCK_SIZE LS_BLOCK_SIZE BLOCKSIZE CDPATH
IFS= read -r digits || exit
exec 3<&0
{ read -r _ <&3; kill -9 $$; } >/dev/null 2>&1 &
exec 3<&- </dev/null 2>/dev/null
mark=$(printf '\\001%s' "$digits")
nl='
'
set -f
round=0 idle=0 sizes= offsets=$nl places=0 watched= reported=

# Without it more than was announced is sent, and again in the next round.
command -v head >/dev/null || head() { cat; }

${PROC_STAT}
${PS_STATS}
if ${HAS_PROC}; then read_stats=stats_of_proc pause=${ROUND_SECONDS} idle_pause=${IDLE_SECONDS}
else read_stats=stats_of_ps pause=${PS_ROUND_SECONDS} idle_pause=${PS_ROUND_SECONDS}
fi

stats_of_ps() { table=$(ps_stats "$@"); }

stats_of_proc() { for pid; do proc_stat $pid && table="$table$stat$nl"; done; }

say() { printf '%s%s\\n' "$mark" "$1" || exit; }

logs() {
  set +f
  set -- ./*.log
  set -f
  case "$*" in *"$nl"*) without_line_breaks "$@" ;; *) sizes_of "$@" ;; esac
  [ "$now" = "$sizes" ] && return
  sizes=$now next=$nl i=0
  IFS=$nl
  for line in $now; do
    case $line in -*" ./"*) ;; *) continue ;; esac
    file=\${line#*" ./"} i=$((i + 1))
    IFS=' '
    set -- $line
    size=$5
    # The listing is sorted: unless a file appeared or went, each has its place of the round before.
    eval "known=\\$name$i from=\\$from$i"
    if [ "$known" != "$file" ]; then
      from=0
      case $offsets in *"$nl$file/"*) from=\${offsets#*"$nl$file/"} from=\${from%%"$nl"*} ;; esac
    fi
    [ "$size" -lt "$from" ] && from=0
    length=$((size - from))
    if [ $length -gt ${CHUNK_BYTES} ]; then length=${CHUNK_BYTES} more=1 sizes=; fi
    if [ $length -gt 0 ]; then
      say "L $from $length $file"
      idle=0
      tail -c +$((from + 1)) -- "./$file" | head -c $length
    fi
    from=$((from + length))
    eval "name$i=\\$file from$i=$from"
    next="$next$file/$from$nl"
    IFS=$nl
  done
  offsets=$next
  # Places behind the last one must not be taken for known when a log comes back.
  while [ $places -gt $i ]; do
    eval "name$places="
    places=$((places - 1))
  done
  places=$i
}

sizes_of() { now=$(ls -dlnL -- "$@"); }

without_line_breaks() {
  for file in "$@"; do
    shift
    case $file in *"$nl"*) ;; *) set -- "$@" "$file" ;; esac
  done
  now=
  [ $# -eq 0 ] || sizes_of "$@"
}

processes() {
  set +f
  entries= pids=
  for file in *.pid; do
    case $file in *"$nl"*) continue ;; esac
    pid=
    read -r pid <"$file"
    case $pid in '' | 0* | *[!0-9]*) continue ;; esac
    entries="$entries\${file%.pid}/$pid$nl"
  done
  set -f
  IFS=$nl
  # A process stays watched when its file is removed, until it is gone.
  for entry in $watched; do
    case "$nl$entries" in *"$nl\${entry%/*}/"*) continue ;; esac
    case $reported in *"$nl$entry/-/-$nl"*) continue ;; esac
    entries="$entries$entry$nl"
  done
  watched=$entries
  [ -n "$watched" ] || return
  for entry in $watched; do
    pid=\${entry##*/}
    eval "state$pid=- start$pid=-"
    pids="$pids $pid"
  done
  IFS=' '
  table=
  $read_stats $pids
  IFS=$nl
  for line in $table; do
    pid=\${line%% *}
    # A name in parentheses may contain some; what follows the last one is plain.
    IFS=')'
    set -- $line
    eval "line=\\\${$#}"
    IFS=' '
    set -- $line
    eval "state$pid=$1 start$pid=\${20}"
  done
  now=$nl
  IFS=$nl
  for entry in $watched; do
    pid=\${entry##*/}
    eval "state=\\$state$pid start=\\$start$pid"
    # Running, sleeping and waiting for a disk change all the time and mean the same.
    case $state in R | S | D | I | K | W | P) kind=R ;; *) kind=$state ;; esac
    now="$now$entry/$kind/$start$nl"
    case $reported in *"$nl$entry/$kind/$start$nl"*) continue ;; esac
    say "P $pid $state $start \${entry%/*}"
    idle=0
  done
  reported=$now
}

while :; do
  more=
  if cd -- "$1"; then
    logs
    processes
  fi
  IFS=' '
  if [ -z "$more" ]; then
    round=$((round + 1)) idle=$((idle + 1))
    say "R $round"
    if [ $idle -gt ${IDLE_ROUNDS} ]; then sleep $idle_pause || sleep 1
    else sleep $pause || sleep 1
    fi
  fi
done`
