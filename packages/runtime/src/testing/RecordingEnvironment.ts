/**
 * The double of an environment: a journal of everything asked of it, in order and with secrets still `Redacted`, over a
 * small in-memory tree of files. A test scripts it at two points: how commands answer, and what the watch reports.
 */
import { Context, Effect, FileSystem, Layer, Path, Redacted, Ref } from "effect"
import { EnvironmentError, TransferFailed } from "../EnvironmentError.ts"
import {
  type DownloadLimits,
  type EnvironmentFacts,
  EnvironmentService,
  type ExecOptions,
  type ExecResult
} from "../EnvironmentService.ts"
import { makeReplayedWatches } from "../internal/replayedWatches.ts"
import type { WatchEvent } from "../WatchEvent.ts"

/** A file as it was uploaded. `content` keeps the form it came in, so a secret stays `Redacted`. */
export interface RecordedFile {
  readonly content: Uint8Array | Redacted.Redacted<string>
  readonly mode: number | undefined
  readonly owner: string | undefined
}

/** One call, in the order of arrival; `Executed` stands there before its answer is known. */
export type Recorded =
  | { readonly _tag: "Executed"; readonly command: string; readonly options: ExecOptions }
  | ({ readonly _tag: "Uploaded"; readonly source: string | undefined; readonly target: string } & RecordedFile)
  | { readonly _tag: "DirectoryUploaded"; readonly source: string; readonly target: string }
  | { readonly _tag: "Downloaded"; readonly source: string; readonly target: string }
  | { readonly _tag: "DirectoryDownloaded"; readonly source: string; readonly target: string }
  | { readonly _tag: "WatchOpened"; readonly directory: string }
  | { readonly _tag: "WatchClosed"; readonly directory: string }
  | { readonly _tag: "Closed" }

/**
 * How a command answers; `undefined` leaves it to the default, which is exit code 0 and no output. `files` is what has been
 * uploaded so far, by path. An effect may wait or hang.
 */
export type Answer = (
  command: string,
  options: ExecOptions,
  files: ReadonlyMap<string, RecordedFile>
) => ExecResult | EnvironmentError | Effect.Effect<ExecResult, EnvironmentError> | undefined

/** An ordinary end of a command, for answers. */
export const exited = (
  exitCode: number,
  output?: { readonly stdout?: string; readonly stderr?: string; readonly timedOut?: boolean }
): ExecResult => ({
  exitCode,
  stdout: output?.stdout ?? "",
  stderr: output?.stderr ?? "",
  timedOut: output?.timedOut ?? false,
  omittedBytes: 0
})

/** Facts of a double; what a test does not care about is as in a sandbox that gives every guarantee. */
export const recordingFacts = (facts?: Partial<EnvironmentFacts>): EnvironmentFacts => ({
  kind: "recording",
  name: "recording environment",
  workDirectory: "/app",
  logsDirectory: "/logs",
  testsDirectory: "/tests",
  homeDirectory: "/tmp/home",
  architecture: "x86_64",
  created: true,
  limitations: [],
  ...facts
})

/** What a test decides about the double before it exists. */
export interface RecordingOptions {
  readonly facts?: Partial<EnvironmentFacts>
  /** Asked in turn; the first that answers decides. More can be added later through `RecordingEnvironment.answer`. */
  readonly answers?: ReadonlyArray<Answer>
}

/** The test's side of the double; the code under test sees only `EnvironmentService`. */
export class RecordingEnvironment extends Context.Service<
  RecordingEnvironment,
  {
    /** Everything asked so far. */
    readonly journal: Effect.Effect<ReadonlyArray<Recorded>>
    /** Only the commands. */
    readonly commands: Effect.Effect<ReadonlyArray<Extract<Recorded, { _tag: "Executed" }>>>
    /** Files now there, by path: uploads and what `writeFile` put there. */
    readonly files: Effect.Effect<ReadonlyMap<string, RecordedFile>>
    /** Puts a file there as if a process inside had written it. */
    writeFile(path: string, content: Uint8Array | string): Effect.Effect<void>
    /** Adds an answer that is asked before the ones already there. */
    answer(answer: Answer): Effect.Effect<void>
    /** Reports to every watch, open or opened later: a watch sees all events from the first on. */
    pushWatch(...events: ReadonlyArray<WatchEvent>): Effect.Effect<void>
    /** Ends every watch, open or opened later, with `error` after the events pushed before. */
    failWatch(error: EnvironmentError): Effect.Effect<void>
  }
>()("@buzz-orchestra/runtime/testing/RecordingEnvironment") {
  /** Both sides of one double. Needs a `FileSystem` for `{ path }` uploads and downloads only. */
  static readonly layer = (
    options?: RecordingOptions
  ): Layer.Layer<RecordingEnvironment | EnvironmentService, never, FileSystem.FileSystem | Path.Path> =>
    Layer.effectContext(make(options ?? {}))
}

const make = Effect.fnUntraced(function* (options: RecordingOptions) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const facts = recordingFacts(options.facts)
  const journal = yield* Ref.make<ReadonlyArray<Recorded>>([])
  const files = new Map<string, RecordedFile>()
  const answers = [...(options.answers ?? [])]
  const watches = yield* makeReplayedWatches

  const record = (entry: Recorded) => Ref.update(journal, (entries) => [...entries, entry])
  yield* Effect.addFinalizer(() => record({ _tag: "Closed" }))

  const failed = (direction: "upload" | "download", filePath: string, detail: string, cause?: unknown) =>
    new EnvironmentError({
      operation: `EnvironmentService.${direction}`,
      reason: new TransferFailed({
        environment: facts.name,
        direction,
        path: filePath,
        detail,
        ...(cause === undefined ? {} : { cause })
      })
    })

  const exec = Effect.fn("EnvironmentService.exec")(function* (command: string, execOptions: ExecOptions = {}) {
    yield* record({ _tag: "Executed", command, options: execOptions })
    for (const ask of answers) {
      const answer = ask(command, execOptions, files)
      if (answer === undefined) continue
      if (answer instanceof EnvironmentError) return yield* answer
      if (Effect.isEffect(answer)) return yield* answer
      return answer
    }
    return exited(0)
  })

  const put = Effect.fnUntraced(function* (
    source: { readonly path: string } | { readonly content: Uint8Array | Redacted.Redacted<string> },
    target: string,
    placement: { readonly mode?: number; readonly owner?: string }
  ) {
    const content =
      "content" in source
        ? source.content
        : yield* Effect.mapError(fs.readFile(source.path), (cause) => failed("upload", target, cause.message, cause))
    const file: RecordedFile = { content, mode: placement.mode, owner: placement.owner }
    files.set(target, file)
    return file
  })

  const upload: EnvironmentService["Service"]["upload"] = Effect.fn("EnvironmentService.upload")(function* (
    source,
    target,
    placement = {}
  ) {
    const file = yield* put(source, target, placement)
    yield* record({ _tag: "Uploaded", source: "path" in source ? source.path : undefined, target, ...file })
  })

  const uploadDirectory = Effect.fn("EnvironmentService.uploadDirectory")(function* (source: string, target: string) {
    yield* record({ _tag: "DirectoryUploaded", source, target })
    const onError = (cause: { readonly message: string }) => failed("upload", target, cause.message, cause)
    const names = yield* Effect.mapError(fs.readDirectory(source, { recursive: true }), onError)
    for (const name of names) {
      const hostPath = path.join(source, name)
      const info = yield* Effect.mapError(fs.stat(hostPath), onError)
      if (info.type === "File") yield* put({ path: hostPath }, `${target}/${name}`, { mode: info.mode & 0o7777 })
    }
  })

  const write = (file: RecordedFile, source: string, target: string) =>
    fs.makeDirectory(path.dirname(target), { recursive: true }).pipe(
      Effect.andThen(fs.writeFile(target, bytesOf(file.content))),
      Effect.mapError((cause) => failed("download", source, cause.message, cause))
    )

  const download = Effect.fn("EnvironmentService.download")(function* (source: string, target: string) {
    yield* record({ _tag: "Downloaded", source, target })
    const file = files.get(source)
    if (file === undefined) return yield* failed("download", source, "no such file")
    return yield* write(file, source, target)
  })

  const downloadDirectory = Effect.fn("EnvironmentService.downloadDirectory")(function* (
    source: string,
    target: string,
    limits: DownloadLimits = { maxBytes: Number.POSITIVE_INFINITY, maxFiles: Number.POSITIVE_INFINITY }
  ) {
    yield* record({ _tag: "DirectoryDownloaded", source, target })
    yield* Effect.mapError(fs.makeDirectory(target, { recursive: true }), (cause) =>
      failed("download", source, cause.message, cause)
    )
    const left: Array<string> = []
    let [bytes, count] = [0, 0]
    for (const [at, file] of files) {
      if (!at.startsWith(`${source}/`)) continue
      const name = at.slice(source.length + 1)
      const size = bytesOf(file.content).length
      if (bytes + size > limits.maxBytes || count >= limits.maxFiles) {
        left.push(name)
        continue
      }
      bytes += size
      count++
      yield* write(file, at, path.join(target, name))
    }
    return left as ReadonlyArray<string>
  })

  const watch = Effect.fn("EnvironmentService.watch")(function* (directory: string) {
    yield* record({ _tag: "WatchOpened", directory })
    yield* Effect.addFinalizer(() => record({ _tag: "WatchClosed", directory }))
    return yield* watches.open
  })

  return Context.make(
    EnvironmentService,
    EnvironmentService.of({ facts, exec, watch, upload, uploadDirectory, download, downloadDirectory })
  ).pipe(
    Context.add(
      RecordingEnvironment,
      RecordingEnvironment.of({
        journal: Ref.get(journal),
        commands: Effect.map(Ref.get(journal), (entries) => entries.filter((entry) => entry._tag === "Executed")),
        files: Effect.sync(() => new Map(files)),
        writeFile: (filePath, content) =>
          Effect.sync(() => {
            const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
            files.set(filePath, { content: bytes, mode: undefined, owner: undefined })
          }),
        answer: (answer) => Effect.sync(() => void answers.unshift(answer)),
        pushWatch: watches.push,
        failWatch: watches.fail
      })
    )
  )
})

const bytesOf = (content: Uint8Array | Redacted.Redacted<string>): Uint8Array =>
  Redacted.isRedacted(content) ? new TextEncoder().encode(Redacted.value(content)) : content
