/**
 * What a local sandbox consists of, as a value: its root directory entry by entry, and how `bwrap` or `unshare` is told to
 * build it. Pure; `Sandbox` looks at the host and starts it.
 */
import { quote } from "./internal/shellText.ts"
import { DEFAULT_LAYOUT, type Layout } from "./Layout.ts"

/** A file or folder of the host that is visible in the sandbox. */
export interface SandboxMount {
  readonly source: string
  /** Absolute path inside; made when it is not there, unless it lies in a read-only system directory. */
  readonly target: string
  readonly readOnly: boolean
}

/**
 * The Node at `execPath`, such as `process.execPath`, beside the programs of `layout`. The programs of the reference stack are
 * scripts that look for it there.
 */
export const nodeBeside = (execPath: string, layout: Layout = DEFAULT_LAYOUT): SandboxMount => ({
  source: execPath,
  target: `${layout.bin}/node`,
  readOnly: true
})

/** One entry of the root. Everything that is no bind lies in memory and is empty at the start. */
export type RootEntry =
  | { readonly _tag: "Directory"; readonly path: string; readonly mode: number }
  | { readonly _tag: "Link"; readonly path: string; readonly to: string }
  | {
      readonly _tag: "Bind"
      readonly source: string
      readonly path: string
      readonly readOnly: boolean
      readonly isFile: boolean
    }

/** What the plan needs to know of the host. */
export interface SandboxHost {
  /** The system directories that exist: links at the top (`/bin`) are copied as links, directories are bound. */
  readonly system: ReadonlyArray<{ readonly path: string; readonly linksTo: string | undefined }>
  /** Files that links in `/etc` need and that lie outside the system directories, such as a resolver's in `/run`. */
  readonly configuration: ReadonlyArray<{ readonly source: string; readonly path: string }>
  /** Whether this process may mount without a user namespace of its own. */
  readonly privileged: boolean
}

/** The whole root of a sandbox, and whether building it needs a user namespace. */
export interface SandboxPlan {
  readonly entries: ReadonlyArray<RootEntry>
  readonly privileged: boolean
}

/** Programs, libraries and configuration of the host that a sandbox shares, read-only. */
export const SYSTEM_DIRECTORIES: ReadonlyArray<string> = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/nix",
  "/etc"
]

/** Files that name resolution and clocks need, which some hosts keep elsewhere and link to. */
export const CONFIGURATION_FILES: ReadonlyArray<string> = ["/etc/resolv.conf", "/etc/hosts", "/etc/localtime"]

/** `$HOME` inside. */
export const SANDBOX_HOME = "/home/agent"

/**
 * Capabilities left to the sandbox's root: what programs that install and own files need, as container engines give it, and
 * nothing to mount, trace or make devices with.
 */
export const SANDBOX_CAPABILITIES: ReadonlyArray<string> = [
  "chown",
  "dac_override",
  "fowner",
  "fsetid",
  "kill",
  "setgid",
  "setuid",
  "setpcap",
  "net_bind_service",
  "sys_chroot"
]

const directory = (path: string, mode = 0o755): RootEntry => ({ _tag: "Directory", path, mode })

/** The writable directories of every sandbox. */
const writable = (workDirectory: string): ReadonlyArray<RootEntry> => [
  directory("/opt/buzz"),
  directory("/logs"),
  directory("/tests"),
  directory(workDirectory),
  directory(SANDBOX_HOME),
  directory("/root", 0o700),
  directory("/run"),
  directory("/tmp", 0o1777),
  directory("/var/tmp", 0o1777),
  directory("/var/log"),
  directory("/var/lib"),
  directory("/var/cache")
]

/** Entries in the order they must be made: a mount comes after what it lies in. */
export const planSandbox = (
  host: SandboxHost,
  options: {
    readonly workDirectory: string
    readonly mounts: ReadonlyArray<SandboxMount & { readonly isFile: boolean }>
  }
): SandboxPlan => {
  const system = host.system.map(({ linksTo, path }): RootEntry =>
    linksTo === undefined
      ? { _tag: "Bind", source: path, path, readOnly: true, isFile: false }
      : { _tag: "Link", path, to: linksTo }
  )
  const own = writable(options.workDirectory)
  const configuration = host.configuration.map(({ path, source }): RootEntry => ({
    _tag: "Bind",
    source,
    path,
    readOnly: true,
    isFile: true
  }))
  const mounts = options.mounts
    .map(({ isFile, readOnly, source, target }): RootEntry => ({
      _tag: "Bind",
      source,
      path: target,
      readOnly,
      isFile
    }))
    .toSorted((a, b) => a.path.length - b.path.length)
  const made = new Set([...system, ...own].flatMap(({ path }) => [...ancestorsOf(path), path]))
  const mounted = [...configuration, ...mounts].flatMap((entry) => [...parentsOf(entry.path, made), entry])
  return { entries: [...system, ...own, ...mounted], privileged: host.privileged }
}

/** The directories above a path, from the top. */
const ancestorsOf = (path: string): ReadonlyArray<string> => {
  const parts = path.split("/").slice(1, -1)
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`)
}

/** Directories that a mount point needs and nobody made; in what is bound they must be there already. */
const parentsOf = (path: string, made: Set<string>): ReadonlyArray<RootEntry> => {
  const parents = ancestorsOf(path)
  if (parents.some((parent) => SYSTEM_DIRECTORIES.includes(parent))) return []
  return parents.filter((parent) => !made.has(parent) && made.add(parent)).map((parent) => directory(parent))
}

/** Octal, as `chmod` and `bwrap` read it. */
const octal = (mode: number): string => mode.toString(8).padStart(4, "0")

/**
 * Arguments of `bwrap`, without the command. Its first process's pid on this machine is written to descriptor 3 as JSON.
 */
export const bwrapArguments = (plan: SandboxPlan): ReadonlyArray<string> => [
  ...words("--die-with-parent --unshare-pid --unshare-ipc --as-pid-1 --new-session --info-fd 3"),
  ...(plan.privileged ? [] : words("--unshare-user --uid 0 --gid 0")),
  ...words("--cap-drop ALL --proc /proc --dev /dev"),
  ...plan.entries.flatMap((entry) => {
    switch (entry._tag) {
      case "Directory":
        return ["--perms", octal(entry.mode), "--dir", entry.path]
      case "Link":
        return ["--symlink", entry.to, entry.path]
      case "Bind":
        return [entry.readOnly ? "--ro-bind" : "--bind", entry.source, entry.path]
    }
  }),
  ...words("--chdir /")
]

/** Arguments without spaces in them. */
export const words = (text: string): ReadonlyArray<string> => text.split(" ")

/**
 * The shell script that builds the root in a mount namespace of its own, enters it, and becomes `init`. It writes
 * `pid <n>` to stdout: its pid on this machine.
 */
export const unshareScript = (plan: SandboxPlan, init: string): string => `set -eu
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
read -r pid _ </proc/self/stat
echo "pid $pid"
root=${SCAFFOLD}
mount -n -t tmpfs -o mode=755,nodev sandbox $root
cd $root
mkdir proc dev sys
${plan.entries.map(entryScript).join("\n")}
${readOnlyScript(plan)}
${DEVICES_SCRIPT}
mount -n -t proc -o nosuid,nodev,noexec proc proc
mkdir .host
pivot_root . .host
cd /
umount -n -l /.host
rmdir /.host
exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs -- setsid sh -c ${quote(init)}
`

/** Where the root is assembled: exists on every Linux, and no mount of a user lies in it. */
const SCAFFOLD = "/sys"

const entryScript = (entry: RootEntry): string => {
  const path = quote(entry.path.slice(1))
  switch (entry._tag) {
    case "Directory":
      return `mkdir -p -- ${path}${entry.mode === 0o755 ? "" : `; chmod ${octal(entry.mode)} ${path}`}`
    case "Link":
      return `ln -s -- ${quote(entry.to)} ${path}`
    case "Bind": {
      const point = entry.isFile ? `[ -e ${path} ] || : >${path}` : `[ -d ${path} ] || mkdir -- ${path}`
      return `${point}; mount -n --rbind -- ${quote(entry.source)} ${path}`
    }
  }
}

/**
 * A bind takes mounts below its source along, each with its own flags, and a flag that the host set cannot be dropped in a user
 * namespace: so every mount in a read-only entry is made read-only by itself, keeping what it has.
 */
const readOnlyScript = (plan: SandboxPlan): string => {
  const patterns = plan.entries.flatMap((entry) =>
    entry._tag === "Bind" && entry.readOnly ? [`$root${quote(entry.path)}`, `$root${quote(entry.path)}/*`] : []
  )
  return `while read -r _ _ _ _ at flags _; do
  case $at in *\\\\*) at=$(printf "$at") ;; esac
  case $at in ${patterns.join(" | ")}) ;; *) continue ;; esac
  keep=nodev
  case ,$flags, in *,nosuid,*) keep=$keep,nosuid ;; esac
  case ,$flags, in *,noexec,*) keep=$keep,noexec ;; esac
  mount -n -o remount,bind,ro,$keep "$at"
done </proc/self/mountinfo`
}

const DEVICES_SCRIPT = `mount -n -t tmpfs -o mode=755,nosuid,noexec devices dev
for name in null zero full random urandom tty; do
  : >dev/$name
  mount -n --bind /dev/$name dev/$name
done
mkdir dev/pts dev/shm
chmod 1777 dev/shm
mount -n -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr`
