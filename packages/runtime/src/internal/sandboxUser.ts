/**
 * Who a user of a sandbox is, by the host's `/etc/passwd`, which the sandbox shares. Pure.
 */

export interface SandboxUser {
  readonly uid: number
  readonly gid: number
  /** Set when the system knows the user, and then also the groups it belongs to. */
  readonly name: string | undefined
}

/**
 * `name`, `uid` or `uid:gid`. A number that nobody has gets group 0, as container engines do it; `undefined` for an unknown
 * name.
 */
export const parseUser = (user: string, passwd: string): SandboxUser | undefined => {
  const [, uid, gid] = /^([0-9]+)(?::([0-9]+))?$/.exec(user) ?? []
  const entry = passwd
    .split("\n")
    .map((line) => line.split(":"))
    .find(([name, , id]) => (uid === undefined ? name === user : id === uid))
  if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid), name: undefined }
  if (entry?.[3] !== undefined) return { uid: Number(entry[2]), gid: Number(entry[3]), name: entry[0] }
  return uid === undefined ? undefined : { uid: Number(uid), gid: 0, name: undefined }
}

/** Options of `setpriv` that become this user. */
export const setprivUser = (user: SandboxUser): ReadonlyArray<string> => [
  "--reuid",
  String(user.uid),
  "--regid",
  String(user.gid),
  user.name === undefined ? "--clear-groups" : "--init-groups"
]
