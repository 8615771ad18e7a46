/**
 * An `EnvironmentService` over any place that can start a process and hand over its three streams.
 */
import { Duration, Effect, FileSystem, Path, Random, type Scope } from "effect"
import {
  type DownloadLimits,
  type EnvironmentFacts,
  EnvironmentService,
  type ExecOptions,
  type ExecResult
} from "../EnvironmentService.ts"
import { EnvironmentError, ShellMissing } from "../EnvironmentError.ts"
import type { OpenProcess } from "../ByteDuplex.ts"
import { makeShell } from "../Shell.ts"
import { openWatch } from "../Watch.ts"
import { downloadFile, downloadFolder } from "./downloads.ts"
import { quote } from "./shellText.ts"
import { uploadFile, uploadFolder } from "./uploads.ts"

export interface Place {
  readonly name: string
  readonly open: OpenProcess
  /** Where everybody may write. Default: `/tmp`. */
  readonly temporary?: string
  /** Waits until it is gone, and says so. */
  readonly lost: Effect.Effect<EnvironmentError>
}

/** Keeps a byte order mark: what a command prints is handed on as it is. */
const text = new TextDecoder("utf-8", { ignoreBOM: true })

const DEFAULT_TIME_LIMIT = Duration.seconds(60)

const DEFAULT_OUTPUT_BYTES = 1024 * 1024

/** A larger stdin is uploaded to a file first. As text for the shell it would need up to four times its size there. */
const INLINE_STDIN_BYTES = 64 * 1024

/** The scope owns its shells. `facts` may be asked of the environment, through a first command. */
export const environmentOver = Effect.fnUntraced(function* (
  place: Place,
  askFacts: (
    run: (command: string) => Effect.Effect<string, EnvironmentError>
  ) => Effect.Effect<EnvironmentFacts, EnvironmentError>
): Effect.fn.Return<EnvironmentService["Service"], EnvironmentError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const shell = yield* makeShell({ environment: place.name, open: place.open, lost: place.lost })
  const host = { environment: place.name, open: place.open, lost: place.lost, shell, fs, path }

  const run = (command: string, options: ExecOptions, cwd: string) =>
    shell
      .run({
        command,
        cwd,
        ...(options.env === undefined ? {} : { env: options.env }),
        ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
        ...(options.user === undefined ? {} : { user: options.user }),
        timeLimit: Duration.fromInputUnsafe(options.timeLimit ?? DEFAULT_TIME_LIMIT),
        maxOutputBytes: options.maxOutputBytes ?? DEFAULT_OUTPUT_BYTES
      })
      .pipe(
        Effect.map((output): ExecResult => ({
          ...output,
          stdout: text.decode(output.stdout),
          stderr: text.decode(output.stderr)
        }))
      )

  const facts = yield* askFacts((command) => Effect.map(run(command, {}, "/"), ({ stdout }) => stdout.trim())).pipe(
    Effect.mapError(withoutShell)
  )

  const exec = Effect.fn("EnvironmentService.exec")(function* (command: string, options: ExecOptions = {}) {
    const cwd = options.cwd ?? facts.workDirectory
    const { stdin, ...rest } = options
    if (stdin === undefined || stdin.length <= INLINE_STDIN_BYTES) return yield* run(command, options, cwd)
    const file = `${place.temporary ?? "/tmp"}/.stdin-${yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)}`
    const owner = options.user === undefined ? {} : { owner: options.user }
    yield* uploadFile(host, { content: stdin }, file, { mode: 0o600, ...owner })
    return yield* run(`exec <${quote(file)}; rm -f -- ${quote(file)}\n${command}`, rest, cwd)
  })

  return EnvironmentService.of({
    facts,
    exec,
    watch: Effect.fn("EnvironmentService.watch")((directory: string) => openWatch(host, directory)),
    upload: Effect.fn("EnvironmentService.upload")((source, target, options) =>
      uploadFile(host, source, target, options ?? {})
    ),
    uploadDirectory: Effect.fn("EnvironmentService.uploadDirectory")((source: string, target: string) =>
      uploadFolder(host, source, target)
    ),
    download: Effect.fn("EnvironmentService.download")((source: string, target: string) =>
      downloadFile(host, source, target)
    ),
    downloadDirectory: Effect.fn("EnvironmentService.downloadDirectory")(
      (source: string, target: string, limits?: DownloadLimits) => downloadFolder(host, source, target, limits)
    )
  })
})

/** Where not even the first command can be run, no other can. */
const withoutShell = (error: EnvironmentError): EnvironmentError => {
  const { operation, reason } = error
  if (reason._tag !== "CommandNotRun") return error
  const { detail, environment } = reason
  return new EnvironmentError({ operation, reason: new ShellMissing({ environment, detail }) })
}
