/**
 * A file system in memory, as much of one as a trial uses, that knows what is open and what was made for a while. Stricter
 * than a disk: nothing is made in a directory that is not there.
 */
import { Effect, FileSystem, Option, PlatformError } from "effect"
import { concatBytes } from "../../src/internal/concatBytes.ts"

/** Told before every call that may fail on a disk; what it returns happens first. */
export type BeforeCall = (
  call: "write" | "append" | "read",
  path: string
) => Effect.Effect<void, PlatformError.PlatformError>

const DIRECTORY = Symbol("directory")

/** The files and who uses them. */
export class MemoryFiles {
  private readonly entries = new Map<string, Growing | typeof DIRECTORY>([["/", DIRECTORY]])
  private readonly open = new Map<number, string>()
  private readonly before: BeforeCall
  private count = 0

  constructor(before: BeforeCall) {
    this.before = before
  }

  /** Paths of files that are open. */
  get openFiles(): ReadonlyArray<string> {
    return [...this.open.values()]
  }

  /** Every path that begins so. */
  below(path: string): ReadonlyArray<string> {
    return [...this.entries.keys()].filter((entry) => entry.startsWith(`${path}/`)).toSorted()
  }

  text(path: string): string | undefined {
    const entry = this.entries.get(path)
    return entry instanceof Growing ? entry.text() : undefined
  }

  /** Puts a file and its directories there, whatever is planned to go wrong. */
  put(path: string, text: string): void {
    this.makeParents(path)
    this.entries.set(path, new Growing(encoder.encode(text)))
  }

  /** The service. What no trial asks of a disk is missing, and asking for it is a defect. */
  readonly service = (): FileSystem.FileSystem =>
    FileSystem.make({
      ...FileSystem.makeNoop({}),
      makeDirectory: (path) => this.calling("write", path, () => this.makeParents(`${path}/`)),
      makeTempDirectory: () => this.makeTemporary,
      makeTempDirectoryScoped: () =>
        Effect.acquireRelease(this.makeTemporary, (path) => Effect.sync(() => this.remove(path))),
      remove: (path) => Effect.sync(() => this.remove(path)),
      writeFile: (path, data, options) =>
        options?.flag === "a"
          ? this.calling("append", path, () => this.have(path).append(data))
          : this.calling("write", path, () => this.set(path, new Growing(data.slice(), options?.mode))),
      chmod: (path, mode) => this.calling("write", path, () => void (this.need(path).mode = mode)),
      rename: (from, to) =>
        this.calling("write", to, () => {
          this.set(to, this.need(from))
          this.entries.delete(from)
        }),
      readFile: (path) => this.calling("read", path, () => this.need(path).bytes().slice()),
      readDirectory: (path, options) =>
        Effect.sync(() =>
          this.below(path)
            .map((entry) => entry.slice(path.length + 1))
            .filter((entry) => options?.recursive === true || !entry.includes("/"))
        ),
      stat: (path) => this.attempt(path, () => this.info(path)),
      access: (path) => (this.entries.has(path) ? Effect.void : Effect.fail(failure(path, "no such file", "NotFound"))),
      open: (path, options) => this.openFile(path, options?.flag ?? "r")
    })

  private readonly makeTemporary = Effect.suspend(() => {
    const path = `/tmp/temporary-${++this.count}`
    return this.calling("write", path, () => {
      this.makeParents(path)
      this.entries.set(path, DIRECTORY)
      return path
    })
  })

  private openFile(path: string, flag: FileSystem.OpenFlag) {
    const id = ++this.count
    const opening = this.calling(flag === "r" ? "read" : "write", path, () => {
      if (flag === "r") this.need(path)
      else this.set(path, new Growing(new Uint8Array()))
      this.open.set(id, path)
    })
    let position = 0
    const read = (length: number) => {
      const bytes = this.need(path)
        .bytes()
        .subarray(position, position + length)
      position += bytes.length
      return bytes
    }
    const append = (bytes: Uint8Array) => this.calling("append", path, () => this.need(path).append(bytes))
    return Effect.as(
      Effect.acquireRelease(opening, () => Effect.sync(() => void this.open.delete(id))),
      {
        [FileSystem.FileTypeId]: FileSystem.FileTypeId,
        writeAll: append,
        read: (buffer: Uint8Array) =>
          Effect.sync(() => {
            const bytes = read(buffer.length)
            buffer.set(bytes)
            return bytes.length
          }),
        readAlloc: (size: number) =>
          Effect.sync(() => {
            const bytes = read(size)
            return bytes.length === 0 ? Option.none() : Option.some(bytes)
          })
        // Nobody asks a file for more in a trial; a new need fails loudly.
      } as unknown as FileSystem.File
    )
  }

  private calling<A>(call: "write" | "append" | "read", path: string, act: () => A) {
    return Effect.andThen(this.before(call, path), this.attempt(path, act))
  }

  private attempt<A>(path: string, act: () => A): Effect.Effect<A, PlatformError.PlatformError> {
    return Effect.suspend(() => {
      try {
        return Effect.succeed(act())
      } catch (cause) {
        return Effect.fail(failure(path, String(cause)))
      }
    })
  }

  private remove(path: string): void {
    for (const entry of [path, ...this.below(path)]) this.entries.delete(entry)
  }

  private set(path: string, file: Growing): void {
    if (this.entries.get(parentOf(path)) !== DIRECTORY) throw new Error(`no directory ${parentOf(path)}`)
    if (this.entries.get(path) === DIRECTORY) throw new Error(`${path} is a directory`)
    this.entries.set(path, file)
  }

  private need(path: string): Growing {
    const entry = this.entries.get(path)
    if (entry instanceof Growing) return entry
    throw new Error("no such file")
  }

  /** Makes the file where there is none. */
  private have(path: string): Growing {
    if (!(this.entries.get(path) instanceof Growing)) this.set(path, new Growing(new Uint8Array()))
    return this.need(path)
  }

  private info(path: string): FileSystem.File.Info {
    const entry = this.entries.get(path)
    if (entry === undefined) throw new Error("no such file")
    const type = entry === DIRECTORY ? "Directory" : "File"
    // Neither times nor numbers of files: whoever keeps what it knows of a file by them keeps nothing here.
    const mode = entry instanceof Growing ? entry.mode : 0o755
    return { type, mode, mtime: Option.none(), ino: Option.none() } as FileSystem.File.Info
  }

  private makeParents(path: string): void {
    const parent = parentOf(path)
    const entry = this.entries.get(parent)
    if (entry === DIRECTORY) return
    if (entry !== undefined) throw new Error(`${parent} is no directory`)
    this.makeParents(parent)
    this.entries.set(parent, DIRECTORY)
  }
}

/** What a disk says. */
export const failure = (
  path: string,
  description: string,
  tag: PlatformError.SystemErrorTag = "Unknown"
): PlatformError.PlatformError =>
  PlatformError.systemError({
    _tag: tag,
    module: "FileSystem",
    method: "call",
    pathOrDescriptor: path,
    description
  })

const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf("/")))

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** What is in a file, in the pieces in which it was written: most are appended to often and read once. */
class Growing {
  mode: number
  private pieces: Array<Uint8Array>

  constructor(whole: Uint8Array, mode = 0o644) {
    this.pieces = [whole]
    this.mode = mode
  }

  append(piece: Uint8Array): void {
    this.pieces.push(piece.slice())
  }

  bytes(): Uint8Array {
    const [first] = this.pieces
    if (this.pieces.length === 1 && first !== undefined) return first
    const whole = concatBytes(this.pieces)
    this.pieces = [whole]
    return whole
  }

  text(): string {
    return decoder.decode(this.bytes())
  }
}
