/**
 * Shell text that reads processes where there is no `/proc`, such as on macOS: `ps`, told to print what `/proc/<pid>/stat` holds,
 * so that all that reads one reads the other. Only options that POSIX or both BSD and procps have.
 */

/** True where `/proc` tells of processes. */
export const HAS_PROC = "[ -r /proc/self/stat ]"

/**
 * Defines `ps_stats`: a line as in `/proc/<pid>/stat` for each of the pids given, or for all. The name is `-`, the session is the
 * process group, and field 22 is the second of the start as a number, which grows as the clock does, and not ticks after boot.
 */
export const PS_STATS = `ps_stats() {
  IFS=,
  buzz_which="-p $*"
  [ $# -gt 0 ] || buzz_which=-A
  IFS=' '
  LC_ALL=C ps $buzz_which -o pid= -o ppid= -o pgid= -o state= -o lstart= 2>/dev/null |
    while read -r pid parent group state _ month day time year; do
      case $month in
        Jan) month=01 ;; Feb) month=02 ;; Mar) month=03 ;; Apr) month=04 ;; May) month=05 ;; Jun) month=06 ;;
        Jul) month=07 ;; Aug) month=08 ;; Sep) month=09 ;; Oct) month=10 ;; Nov) month=11 ;; Dec) month=12 ;;
      esac
      case $day in ?) day=0$day ;; esac
      minute=\${time#*:}
      # U is what BSD calls D.
      case $state in U*) state=D ;; esac
      echo "$pid (-) \${state%"\${state#?}"} $parent $group $group 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 $year$month$day\${time%%:*}\${minute%:*}\${time##*:}"
    done
}`

/**
 * Defines `proc_stat`, which reads what `/proc` tells of one process into `stat` and is false when there is none. Forks nothing.
 * The kernel writes names as they are, so there may be line breaks in it; each becomes a space.
 */
export const PROC_STAT = `proc_stat() {
  stat=
  while IFS= read -r stat_line || [ -n "$stat_line" ]; do stat="$stat$stat_line "; done 2>/dev/null <"/proc/$1/stat"
  [ -n "$stat" ]
}`

/** Defines `stat_of`, which reads the line of one process into `stat` and is false when there is none. Forks only for `ps`. */
export const STAT_OF = `${PROC_STAT}
if ${HAS_PROC}; then stat_of() { proc_stat "$1"; }
else
${PS_STATS}
stat_of() { stat=$(ps_stats "$1"); [ -n "$stat" ]; }
fi`
