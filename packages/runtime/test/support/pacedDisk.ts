/**
 * A disk that takes its time: each change below a directory waits first, and many a file is written in two parts, so that a harness
 * that is killed is between any two of them.
 */
import { Effect, FileSystem, Layer, Random } from "effect"

/** The file system of the layer, with a pause before each change below `root`. */
export const pacedDisk = (
  root: string,
  pause: Effect.Effect<void>
): Layer.Layer<FileSystem.FileSystem, never, FileSystem.FileSystem> =>
  Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) => {
      const on = <A, E>(path: string, change: Effect.Effect<A, E>) =>
        path.startsWith(root) ? Effect.andThen(pause, change) : change
      return FileSystem.make({
        ...fs,
        makeDirectory: (path, options) => on(path, fs.makeDirectory(path, options)),
        chmod: (path, mode) => on(path, fs.chmod(path, mode)),
        remove: (path, options) => on(path, fs.remove(path, options)),
        rename: (from, to) => on(to, fs.rename(from, to)),
        writeFile: (path, data, options) => {
          const half = data.length >> 1
          const whole = on(path, fs.writeFile(path, data, options))
          const parted = Effect.andThen(
            on(path, fs.writeFile(path, data.subarray(0, half), options)),
            on(path, fs.writeFile(path, data.subarray(half), { ...options, flag: "a" }))
          )
          return Effect.flatMap(Random.nextBoolean, (isParted) => (isParted && path.startsWith(root) ? parted : whole))
        },
        open: (path, options) =>
          Effect.map(fs.open(path, options), (file) =>
            options?.flag === undefined || options.flag === "r"
              ? file
              : {
                  ...file,
                  stat: file.stat,
                  sync: file.sync,
                  writeAll: (bytes: Uint8Array) => on(path, file.writeAll(bytes))
                }
          )
      })
    })
  )
