/**
 * What root makes in an environment before agents with users of their own are started there. POSIX text for dash, bash and
 * busybox. Pure.
 */
import type { AgentAccount, AgentUser } from "../AgentUsers.ts"
import type { Layout } from "../Layout.ts"
import { quote } from "./shellText.ts"

/** The group of all accounts. */
const GROUP = "buzz-agents"

/**
 * Names each account, for programs that want a name, where `/etc/passwd` can be written and neither name nor number is taken.
 */
export const namesScript = (accounts: ReadonlyArray<AgentAccount>): string => {
  const groups = accounts.slice(0, 1).map(({ gid }) => `note /etc/group ${GROUP} ${gid} x:${gid}:`)
  const names = accounts.map(
    ({ gid, home, name, uid }) => `note /etc/passwd ${name} ${uid} "x:${uid}:${gid}::"${quote(home)}":$shell"`
  )
  return `note() {
  [ -w "$1" ] || return 0
  while IFS=: read -r name _ number _; do
    case $name/$number in "$2"/* | */"$3") return 0 ;; esac
  done <"$1"
  # The last line of some has no end.
  [ -z "$(tail -c 1 "$1")" ] || echo >>"$1"
  echo "$2:$4" >>"$1"
}
shell=$(command -v bash || echo /bin/sh)
{
${[...groups, ...names].join("\n")}
} 2>/dev/null`
}

/** What is made, and of what. */
export interface OwnUsers {
  readonly users: ReadonlyArray<AgentUser>
  readonly layout: Layout
  /** The task's, which all agents may write afterwards. */
  readonly workDirectory: string
}

/** Git refuses to work in a repository of somebody else's, and the task's files are; what agents make belongs to each other. */
const GIT_CONFIG = "[safe]\\n\\tdirectory = *\\n"

/**
 * Gives each user a home. What the stack needs is readable for all and writable for root alone. The work directory gets the
 * users' group, and whatever its owner may do with a file the group may, too; links are left as they are, and so is what cannot
 * be changed, such as a mount that is read-only. Ends with another code than 0 when a user has no home, or may not write where
 * root may.
 */
export const ownUsersScript = ({ layout, users, workDirectory }: OwnUsers): string => {
  const work = quote(workDirectory)
  const { bin, logs, prompts, root } = layout
  const places = [root, bin, prompts, logs].map(quote).join(" ")
  return `{
chown 0:0 ${places}
chmod 755 ${places}
${users
  .slice(0, 1)
  .map(({ gid }) => `chgrp -hR ${gid} ${work}`)
  .join("")}
chmod -R g+rwX ${work}
} 2>/dev/null
${users.map(makeHome).join("\n")}
[ -w ${work} ] || exit 0
${users.map((user) => mayWrite(user, work)).join("\n")}
:`
}

const makeHome = ({ gid, home, uid }: AgentUser): string => {
  const [directory, config] = [quote(home), quote(`${home}/.gitconfig`)]
  return `mkdir -p ${directory} && { [ -e ${config} ] || printf '${GIT_CONFIG}' >${config}; } &&
chmod 700 ${directory} && chown ${uid}:${gid} ${directory} ${config} || exit 1`
}

const mayWrite = ({ become, name }: AgentUser, work: string): string =>
  `${become.map(quote).join(" ")} sh -c '[ -w "$1" ]' sh ${work} || { echo "${name} cannot write the work directory" >&2; exit 1; }`
