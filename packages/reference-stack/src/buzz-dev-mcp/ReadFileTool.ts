/**
 * Reads a text file for the `read_file` tool.
 */
import { Effect, FileSystem, Path, Schema } from "effect"
import * as FileLines from "./FileLines.ts"

const Natural = Schema.Int.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(0)))

/** Arguments of the tool. `offset` counts lines from 0. */
export const ReadFileArguments = Schema.Struct({
  path: Schema.String,
  offset: Schema.optionalKey(Natural),
  limit: Schema.optionalKey(Natural),
  workdir: Schema.optionalKey(Schema.String)
})
export type ReadFileArguments = typeof ReadFileArguments.Type

/** The file cannot be read; the model gets the text as a tool error. */
export class FileUnreadable extends Schema.TaggedError<FileUnreadable>()("FileUnreadable", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `cannot read ${this.path}: ${this.detail}`
  }
}

/** The tool; relative paths start at `cwd`, or at the call's `workdir`. */
export const make = Effect.fnUntraced(function* (cwd: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return Effect.fn("ReadFileTool.run")(function* (args: ReadFileArguments) {
    const file = path.resolve(cwd, args.workdir ?? ".", args.path)
    const content = yield* Effect.mapError(
      fileSystem.readFileString(file),
      (cause) => new FileUnreadable({ path: args.path, detail: cause.message })
    )
    return FileLines.render(args.path, content, args.offset ?? 0, args.limit ?? FileLines.DEFAULT_LIMIT)
  })
})
