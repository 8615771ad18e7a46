#!/bin/sh
# A private Docker engine for tests: engine.sh start DIR prints its DOCKER_HOST, engine.sh stop DIR ends it and removes DIR.
# Needs root and Debian's packages docker.io, tini and busybox-static (installed when missing).
set -eu
usage() { echo "usage: engine.sh start|stop DIR" >&2; exit 2; }
[ $# -eq 2 ] || usage
action=$1 dir=$2

start() {
  mkdir -p "$dir"
  if ! command -v dockerd >/dev/null || ! command -v docker-init >/dev/null; then
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends docker.io tini busybox-static >&2
  fi
  # A pid file left by a killed engine makes the next one refuse to start.
  rm -f "$dir/pid"
  setsid dockerd --data-root "$dir/data" --exec-root "$dir/exec" -p "$dir/pid" -H "unix://$dir/sock" \
    --shutdown-timeout 1 >"$dir/log" 2>&1 </dev/null &
  n=0
  until curl -sf --unix-socket "$dir/sock" http://engine/_ping >/dev/null 2>&1; do
    n=$((n + 1))
    if [ "$n" -gt 150 ]; then
      tail -20 "$dir/log" >&2
      exit 1
    fi
    sleep 0.1
  done
  echo "unix://$dir/sock"
}

stop() {
  [ -e "$dir/pid" ] || { rm -rf "$dir"; return; }
  docker -H "unix://$dir/sock" ps -q | xargs -r docker -H "unix://$dir/sock" kill >/dev/null 2>&1 || true
  pid=$(cat "$dir/pid")
  kill "$pid" 2>/dev/null || true
  n=0
  while [ -e "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null && [ "$n" -lt 100 ]; do
    n=$((n + 1))
    sleep 0.1
  done
  umount "$dir"/exec/netns/* "$dir/data" 2>/dev/null || true
  rm -rf "$dir"
}

case $action in start) start ;; stop) stop ;; *) usage ;; esac
