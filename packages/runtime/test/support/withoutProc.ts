/**
 * This machine as a system without `/proc` and with BSD's programs: every process is started where `/proc` is empty, and finds a `ps`
 * that prints what macOS prints, and no `setsid`, `sha256sum` or `stat`. Needs root.
 */
import { Effect, FileSystem, Layer } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { existsSync } from "node:fs"
import { isInstalled } from "./sandbox.ts"

export const CAN_HIDE_PROC = process.getuid?.() === 0 && isInstalled("unshare") && isInstalled("perl")

/** POSIX's, and what macOS has beside them. */
const PROGRAMS = (
  "sh bash perl cat chmod chown cp cut dd echo env expr false find grep head id kill ln ls mkdir mkfifo " +
  "mktemp mv od openssl printf pwd rm rmdir sed sleep sort tail tar tee test touch tr true uname wc " +
  "xargs"
).split(" ")

/** As `ps` of macOS: states with flags, `comm` with its path, `e` for the environment behind the arguments. */
const ps = (proc: string): string =>
  `#!/usr/bin/perl
use strict;
my ($all, $env, %only, @columns) = (0, 0);
while (@ARGV) { my $a = shift @ARGV;
  if ($a eq "-o") { my $c = shift @ARGV; $c =~ s/=$//; push @columns, $c }
  elsif ($a eq "-p") { $only{$_} = 1 for split /,/, shift @ARGV }
  elsif ($a eq "-A") { $all = 1 } elsif ($a eq "-ww") { }
  elsif ($a eq "axeww") { $all = $env = 1 } else { die "ps: illegal argument: $a" } }
sub slurp { open my $f, "<", $_[0] or return ""; local $/; my $t = <$f>; defined $t ? $t : "" }
my ($boot) = slurp("${proc}/stat") =~ /^btime (\\d+)/m;
my @months = qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec);
my $wants = join " ", "", @columns, ""; my $found = 0;
my @pids = keys %only; if ($all) { opendir my $d, "${proc}"; @pids = grep { /^\\d+$/ } readdir $d }
for my $pid (sort { $a <=> $b } @pids) {
  my $line = slurp("${proc}/$pid/stat") or next; my ($rest) = $line =~ /.*\\) (.*)/s; my @f = split / /, $rest; $found = 1;
  my ($s, $m, $h, $day, $month, $year) = localtime($boot + int($f[19] / 100));
  my $args = $wants =~ / (args|command) / ? slurp("${proc}/$pid/cmdline") : ""; $args =~ s/\\0/ /g; $args =~ s/ $//;
  if ($env) { (my $e = slurp("${proc}/$pid/environ")) =~ s/\\0/ /g; $args .= " $e" }
  my %v = (pid => $pid, ppid => $f[1], pgid => $f[2], state => $f[0] . ($pid == $f[3] ? "s" : "") . "+",
    lstart => sprintf("Mon %s %2d %02d:%02d:%02d %d", $months[$month], $day, $h, $m, $s, $year + 1900),
    comm => $wants =~ / comm / && readlink("${proc}/$pid/exe") || "-", args => $args, command => $args);
  print join(" ", map { sprintf "%5s", $v{$_} } @columns), "\\n" }
exit($found ? 0 : 1)
`

/** The moment of the start, as macOS tells it. */
const SYSCTL = `#!/bin/sh
[ "$*" = "-n kern.bootsessionuuid" ] && echo 6A1F5C52-0000-4000-8000-000000000001
`

/** This process, too, finds nothing below `/proc`. */
const withoutProcFiles = (fs: FileSystem.FileSystem) => {
  const missing = (path: string) => fs.readFile(`/nonexistent${path}`)
  const isProc = (path: string) => path === "/proc" || path.startsWith("/proc/")
  return FileSystem.FileSystem.of({
    ...fs,
    exists: (path) => (isProc(path) ? Effect.succeed(false) : fs.exists(path)),
    readFileString: (path, encoding) =>
      isProc(path) ? Effect.map(missing(path), String) : fs.readFileString(path, encoding),
    readLink: (path) => (isProc(path) ? Effect.map(missing(path), String) : fs.readLink(path)),
    readDirectory: (path, options) =>
      isProc(path) ? Effect.map(missing(path), () => []) : fs.readDirectory(path, options)
  })
}

/** The PATH of such a system, and a spawner of processes that see no other. The scope of the layer removes what it made. */
export const bsdMachine = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* fs.makeTempDirectoryScoped()
  const [bin, proc] = [`${folder}/bin`, `${folder}/proc`]
  yield* Effect.forEach([bin, proc], (path) => fs.makeDirectory(path))
  for (const program of PROGRAMS) {
    const path = ["/usr/bin", "/bin"].map((at) => `${at}/${program}`).find((at) => existsSync(at))
    if (path !== undefined) yield* fs.symlink(path, `${bin}/${program}`)
  }
  yield* fs.writeFileString(`${bin}/ps`, ps(proc), { mode: 0o755 })
  yield* fs.writeFileString(`${bin}/sysctl`, SYSCTL, { mode: 0o755 })
  const hide = `/bin/mount -n --bind /proc ${proc} && /bin/mount -n -t tmpfs none /proc && exec "$@"`
  // What does not choose its PATH has that of the machine.
  const withPath = (options: ChildProcess.CommandOptions): ChildProcess.CommandOptions =>
    options.env !== undefined && options.extendEnv !== true
      ? options
      : { ...options, extendEnv: true, env: { ...options.env, PATH: bin } }
  const hidden = (command: ChildProcess.Command) =>
    command._tag === "StandardCommand"
      ? ChildProcess.make(
          "/usr/bin/unshare",
          ["--mount", "/bin/sh", "-c", hide, "hide", command.command, ...command.args],
          withPath(command.options)
        )
      : command
  const layer = Layer.mergeAll(
    Layer.succeed(
      ChildProcessSpawner.ChildProcessSpawner,
      ChildProcessSpawner.make((command) => spawner.spawn(hidden(command)))
    ),
    Layer.succeed(FileSystem.FileSystem, withoutProcFiles(fs))
  )
  return { path: bin, layer }
})
