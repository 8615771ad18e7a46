/**
 * The directories that a trial needs in a container, made once, by root where the container has a user of its own: that
 * user can write almost nowhere.
 */
import { quote } from "../../internal/shellText.ts"

/** What is made, and for whom. */
export interface Preparation {
  /** Who gets what is made: the container's own user; empty is root. */
  readonly user: string
  /** Whether the container is ours: directories that were there before get that owner, too, but for the work directory. */
  readonly created: boolean
  readonly workDirectory: string
  /** Homes to try in order. */
  readonly homes: ReadonlyArray<string>
  /** The other directories. */
  readonly directories: ReadonlyArray<string>
}

/** What came of it. */
export interface Prepared {
  /** Empty when none could be made. */
  readonly home: string
  /** Directories that could not be made. */
  readonly refused: ReadonlyArray<string>
}

/** Always ends with 0: what could not be done is in what it prints. */
export const prepareScript = ({ created, directories, homes, user, workDirectory }: Preparation): string =>
  `user=${quote(user)} take=${created ? 1 : ""}
give() {
  [ -n "$user" ] || return 0
  chown -- "$user" "$1" 2>/dev/null || chmod 1777 -- "$1" 2>/dev/null
}
make() {
  if [ -d "$1" ]; then
    [ -z "$take" ] || give "$1"
  else
    mkdir -p -- "$1" 2>/dev/null && give "$1"
  fi
}
[ -d /tmp ] || mkdir -m 1777 /tmp 2>/dev/null
for home in ${homes.map(quote).join(" ")}; do
  if make "$home" && [ -w "$home" ]; then echo "home $home"; break; fi
done
for directory in ${directories.map(quote).join(" ")}; do make "$directory" || echo "refused $directory"; done
take=
make ${quote(workDirectory)} || echo refused ${quote(workDirectory)}
:`

/** Reads what the script printed. */
export const parsePrepared = (stdout: string): Prepared => {
  const lines = stdout.split("\n")
  const after = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
  return { home: after("home")[0] ?? "", refused: after("refused") }
}
