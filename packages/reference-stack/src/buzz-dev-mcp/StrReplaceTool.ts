/**
 * Replaces a text in a file for the `str_replace` tool. Another process sees the file before or after, never in between.
 */
import { Effect, FileSystem, Path, Result, Schema } from "effect"
import { randomBytes } from "node:crypto"
import * as TextEdit from "./TextEdit.ts"

/** Bytes of UTF-8 that `old_str` and `new_str` may have each. */
const MAX_BYTES = 1024 * 1024

/** Arguments of the tool. */
export const StrReplaceArguments = Schema.Struct({
  path: Schema.String,
  old_str: Schema.String,
  new_str: Schema.String,
  replace_all: Schema.optionalKey(Schema.Boolean),
  workdir: Schema.optionalKey(Schema.String)
})
export type StrReplaceArguments = typeof StrReplaceArguments.Type

/** Nothing was changed; the model gets the text as a tool error. */
export class FileNotEdited extends Schema.TaggedError<FileNotEdited>()("FileNotEdited", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `cannot edit ${this.path}: ${this.detail}`
  }
}

/** The tool; relative paths start at `cwd`, or at the call's `workdir`. */
export const make = Effect.fnUntraced(function* (cwd: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  /** Beside the file and then in its place, with its mode. What a link points to is replaced, not the link. */
  const write = Effect.fnUntraced(function* (file: string, content: string) {
    const { mode } = yield* fileSystem.stat(file)
    const temporary = `${file}.${randomBytes(4).toString("hex")}.tmp`
    yield* Effect.gen(function* () {
      yield* fileSystem.writeFileString(temporary, content)
      yield* fileSystem.chmod(temporary, mode & 0o7777)
      yield* fileSystem.rename(temporary, file)
    }).pipe(Effect.onError(() => Effect.ignore(fileSystem.remove(temporary, { force: true }))))
  })

  return Effect.fn("StrReplaceTool.run")(function* (args: StrReplaceArguments) {
    const notEdited = (detail: string) => new FileNotEdited({ path: args.path, detail })
    for (const name of ["old_str", "new_str"] as const)
      if (Buffer.byteLength(args[name]) > MAX_BYTES) return yield* notEdited(`${name} exceeds ${MAX_BYTES} bytes`)
    const failed = Effect.mapError((cause: { readonly message: string }) => notEdited(cause.message))
    const file = yield* failed(fileSystem.realPath(path.resolve(cwd, args.workdir ?? ".", args.path)))
    const content = yield* decoded(yield* failed(fileSystem.readFile(file)), notEdited)
    const edited = yield* Effect.mapError(
      Effect.fromResult(
        TextEdit.replace(args.path, content, {
          oldText: args.old_str,
          newText: args.new_str,
          all: args.replace_all ?? false
        })
      ),
      notEdited
    )
    yield* failed(write(file, edited.content))
    return edited.diff
  })
})

/** Bytes that are no UTF-8 would come back from the file as other bytes. */
const decoded = (bytes: Uint8Array, notEdited: (detail: string) => FileNotEdited) =>
  Effect.fromResult(
    Result.try({
      try: () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
      catch: () => notEdited("it is not a text in UTF-8")
    })
  )
