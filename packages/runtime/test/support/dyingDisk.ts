/**
 * A disk that takes nothing more after some number of writes, as the disk of a harness that is killed. The last write is torn. It
 * fails nothing: whoever was killed does not notice.
 */
import { Effect, FileSystem, Layer } from "effect"

export class DyingDisk {
  /** Writes so far. */
  writes = 0
  private readonly lifetime: number

  constructor(lifetime: number) {
    this.lifetime = lifetime
  }

  /** The file system of the layer, dying below `root`. */
  layer(root: string): Layer.Layer<FileSystem.FileSystem, never, FileSystem.FileSystem> {
    return Layer.effect(
      FileSystem.FileSystem,
      Effect.map(FileSystem.FileSystem, (fs) => {
        const on = <A, E>(path: string, write: Effect.Effect<A, E>, torn: Effect.Effect<A | void, E> = Effect.void) =>
          path.startsWith(root) ? this.take(write, torn) : write
        return FileSystem.make({
          ...fs,
          makeDirectory: (path, options) => on(path, fs.makeDirectory(path, options)) as Effect.Effect<void, never>,
          chmod: (path, mode) => on(path, fs.chmod(path, mode)) as Effect.Effect<void, never>,
          rename: (from, to) => on(to, fs.rename(from, to)) as Effect.Effect<void, never>,
          writeFile: (path, data, options) =>
            on(
              path,
              fs.writeFile(path, data, options),
              fs.writeFile(path, data.subarray(0, data.length / 2), options)
            ) as Effect.Effect<void, never>,
          open: (path, options) =>
            Effect.map(this.isAlive || !path.startsWith(root) ? fs.open(path, options) : fs.open("/dev/null"), (file) =>
              path.startsWith(root) && options?.flag !== undefined && options.flag !== "r"
                ? {
                    ...file,
                    stat: file.stat,
                    sync: file.sync,
                    writeAll: (bytes: Uint8Array) =>
                      this.take(file.writeAll(bytes), file.writeAll(bytes.subarray(0, bytes.length / 2)))
                  }
                : file
            )
        } as typeof fs)
      })
    )
  }

  private get isAlive(): boolean {
    return this.writes < this.lifetime
  }

  private take<A, E>(write: Effect.Effect<A, E>, torn: Effect.Effect<A | void, E>): Effect.Effect<A | void, E> {
    return Effect.suspend((): Effect.Effect<A | void, E> => {
      const was = this.writes++
      if (was + 1 < this.lifetime) return write
      return was + 1 === this.lifetime ? torn : Effect.void
    })
  }
}
