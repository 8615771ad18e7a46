/**
 * What PID 1 of a container does that we made: reap orphans, and end at the latest after its time limit or when whoever
 * holds its stdin is gone. POSIX text for dash, bash and busybox.
 */

/** `docker stop` and PID 1's own helper ask with it: by TERM an agent that ends every shell would end the container. */
export const IDLE_SIGNAL = "SIGUSR1"

/** Exit code of PID 1 after its time limit. */
export const TIME_LIMIT_CODE = 124

/** Exit code of PID 1 when the image has no `sleep`. */
export const NO_SLEEP_CODE = 127

/** Between two looks at whether the helper is still there. */
const LOOK_SECONDS = 60

/**
 * A shell that waits reaps whatever is given to it, so no init is needed. The kernel lets nobody inside kill PID 1, only its
 * helpers, and those are started again; the time left is counted by `/proc/uptime`. Shells handle INT although they are PID 1.
 */
const IDLE_SCRIPT = `exec 3<&0 </dev/null
trap 'exit 0' USR1
trap '' HUP INT QUIT TERM
lives() {
  read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
  case \${stat##*) } in Z* | X*) return 1 ;; esac
}
read -r up _ </proc/uptime
end=$((\${up%.*} + $1)) reader= look=${LOOK_SECONDS}
while :; do
  read -r up _ </proc/uptime
  left=$((end - \${up%.*}))
  [ $left -gt 0 ] || exit ${TIME_LIMIT_CODE}
  [ $left -gt $look ] && left=$look
  if [ -z "$reader" ] || ! lives $reader; then
    { while read -r _; do :; done; kill -USR1 $$; } <&3 &
    reader=$!
  fi
  sleep $left 3<&- &
  wait $!
  code=$? look=${LOOK_SECONDS}
  [ $code -ne 127 ] || exit ${NO_SLEEP_CODE}
  # Whoever killed one helper may be killing the other at this moment.
  [ $code -lt 128 ] || look=1
done`

/** The command of PID 1. */
export const idleCommand = (limitSeconds: number): ReadonlyArray<string> => [
  "sh",
  "-c",
  IDLE_SCRIPT,
  "buzz-idle",
  String(limitSeconds)
]
