/**
 * How root becomes another user in an environment: by whatever its image has. Each way ends in the program itself, in the same
 * process, so that signals and exit codes are the program's own. Pure.
 */
import type { AgentAccount } from "../AgentUsers.ts"
import { quote } from "./shellText.ts"

/** Words before a program and its arguments. */
type Become = (account: AgentAccount) => ReadonlyArray<string>

/** Clears other groups, then changes group and user; the order is the kernel's. */
const PERL =
  'use POSIX; ($g, $u) = splice @ARGV, 0, 2; $) = "$g $g"; POSIX::setgid($g); POSIX::setuid($u); exec {$ARGV[0]} @ARGV'
const PYTHON =
  "import os, sys; g, u = map(int, sys.argv[1:3]); os.setgroups([]); os.setgid(g); os.setuid(u); os.execvp(sys.argv[3], sys.argv[3:])"

/**
 * In the order in which they are tried. `setpriv` is util-linux's, which every Debian has; busybox's takes no user. `chroot` to
 * where one is already changes the user alone, and is coreutils'. `su` is good for busybox's, which starts no second process, and
 * needs the user's name.
 */
const WAYS: Readonly<Record<string, Become>> = {
  setpriv: ({ gid, uid }) => ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--inh-caps=-all", "--"],
  chroot: ({ gid, uid }) => ["chroot", `--userspec=+${uid}:+${gid}`, "--groups=", "--skip-chdir", "/"],
  setuidgid: ({ gid, uid }) => ["setuidgid", `${uid}:${gid}`],
  "su-exec": ({ gid, uid }) => ["su-exec", `${uid}:${gid}`],
  gosu: ({ gid, uid }) => ["gosu", `${uid}:${gid}`],
  perl: ({ gid, uid }) => ["perl", "-e", PERL, `${gid}`, `${uid}`],
  python3: ({ gid, uid }) => ["python3", "-c", PYTHON, `${gid}`, `${uid}`],
  su: ({ name }) => ["su", "-p", "-s", "/bin/sh", "-c", 'exec "$@"', "--", name, "sh"]
}

/** Tells who it is: the pid of the process that became another, then its status. */
const TELL = 'echo "is $$"; cat /proc/$$/status'

/**
 * Prints `user <uid>` for who runs it and `map <first> <of the host> <count>` per range of users that there are, then for each way
 * until one worked: `way <name>`, `was <pid>`, and what the process says that should have become `account`.
 */
export const probeScript = (account: AgentAccount): string => {
  const attempt = ([way, become]: readonly [string, Become]) => `
try ${quote(way)} ${[...become(account), "sh", "-c", TELL].map(quote).join(" ")} && exit 0`
  return `while read -r key uid _; do [ "$key" = Uid: ] && echo "user $uid"; done </proc/self/status
while read -r first host count; do echo "map $first $host $count"; done </proc/self/uid_map
tab=$(printf '\\t')
try() {
  command -v "$2" >/dev/null 2>&1 || return 1
  echo "way $1"
  shift
  told=$("$@" 2>/dev/null </dev/null & echo "was $!"; wait)
  echo "$told"
  case $told in *"Uid:$tab${account.uid}$tab"*) return 0 ;; esac
  return 1
}
${Object.entries(WAYS).map(attempt).join("")}
exit 0`
}

/** How to become an account, or why root cannot. */
export type UserSwitch = { readonly become: Become } | { readonly why: string }

/** Believes only what the kernel said of a process that became the account. */
export const parseProbe = (stdout: string, account: AgentAccount): UserSwitch => {
  const [head = "", ...attempts] = `\n${stdout}`.split("\nway ")
  const uid = /^user (\d+)$/m.exec(head)?.[1]
  if (uid !== "0") return { why: `its user is ${uid ?? "not known"}, and only root can become another` }
  const ranges = [...head.matchAll(/^map +(\d+) +\d+ +(\d+)$/gm)]
  if (!ranges.some(([, first, count]) => isWithin(account.uid, Number(first), Number(count))))
    return { why: `its user namespace has no user ${account.uid}` }
  for (const attempt of attempts) {
    const become = WAYS[attempt.slice(0, attempt.indexOf("\n"))]
    if (become !== undefined && isAccount(attempt, account)) return { become }
  }
  const tried = attempts.map((attempt) => attempt.slice(0, attempt.indexOf("\n")))
  return {
    why:
      tried.length === 0
        ? `it has none of ${Object.keys(WAYS).join(", ")}`
        : `root cannot become another user there: tried ${tried.join(", ")}`
  }
}

const isWithin = (uid: number, first: number, count: number): boolean => uid >= first && uid < first + count

/** Real, effective, saved and of the file system. */
const four = (id: number): string => [id, id, id, id].join("\t")

/** The same process, all its ids changed, no other groups and no capability left. */
const isAccount = (told: string, { gid, uid }: AgentAccount): boolean => {
  const [was, is] = ["was", "is"].map((word) => new RegExp(`^${word} (\\d+)$`, "m").exec(told)?.[1])
  const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, "m").exec(told)?.[1]?.trim()
  const groups = field("Groups")
    ?.split(" ")
    .filter((group) => group !== "" && group !== `${gid}`)
  return (
    was !== undefined &&
    was === is &&
    field("Uid") === four(uid) &&
    field("Gid") === four(gid) &&
    groups?.length === 0 &&
    /^0+$/.test(field("CapEff") ?? "")
  )
}
