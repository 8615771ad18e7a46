/**
 * Counts what crosses an environment's border. A service beside the environment, because both harnesses are measured by it.
 */
import { Context, Effect, FileSystem, Layer, Path, Stream } from "effect"
import { EnvironmentService } from "../packages/runtime/src/EnvironmentService.ts"

/** Counts of one environment, from its creation. */
export class Meter extends Context.Service<
  Meter,
  {
    /** Calls of the environment; of a container, requests made of its engine. */
    readonly calls: Effect.Effect<number>
    /** Bytes of logs that came out, by the watch, by downloads, and as `noteLogs` was told. */
    readonly logBytes: Effect.Effect<number>
    /** Bytes of logs that came out as some command's output. */
    noteLogs(bytes: number): Effect.Effect<void>
    /** The environment itself, for what is no harness's business. */
    readonly uncounted: EnvironmentService["Service"]
  }
>()("bench/Meter") {}

/** The environment, counted. `engineCalls` replaces the count of its calls. */
export const layer = <E, R>(
  environment: Layer.Layer<EnvironmentService, E, R>,
  engineCalls?: Effect.Effect<number, never, R>
): Layer.Layer<EnvironmentService | Meter, E, R | FileSystem.FileSystem | Path.Path> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const inner = yield* EnvironmentService
      const context = yield* Effect.context<R>()
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const counts = { calls: 0, logBytes: 0 }
      const meter = Meter.of({
        calls: engineCalls === undefined ? Effect.sync(() => counts.calls) : Effect.provide(engineCalls, context),
        logBytes: Effect.sync(() => counts.logBytes),
        noteLogs: (bytes) => Effect.sync(() => void (counts.logBytes += bytes)),
        uncounted: inner
      })
      const call = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.suspend(() => {
          counts.calls++
          return effect
        })
      const sizeOf = (file: string) => Effect.map(Effect.orDie(fs.stat(file)), ({ size }) => Number(size))
      return Context.make(Meter, meter).pipe(
        Context.add(
          EnvironmentService,
          EnvironmentService.of({
            ...inner,
            exec: (command, options) => call(inner.exec(command, options)),
            watch: (directory) =>
              Effect.map(
                call(inner.watch(directory)),
                Stream.tap((event) => (event._tag === "LogBytes" ? meter.noteLogs(event.bytes.length) : Effect.void))
              ),
            upload: (source, target, options) => call(inner.upload(source, target, options)),
            uploadDirectory: (source, target) => call(inner.uploadDirectory(source, target)),
            download: (source, target) =>
              Effect.tap(call(inner.download(source, target)), () => Effect.flatMap(sizeOf(target), meter.noteLogs)),
            downloadDirectory: Effect.fnUntraced(function* (source, target) {
              const unread = yield* call(inner.downloadDirectory(source, target))
              for (const file of yield* Effect.orDie(fs.readDirectory(target)))
                yield* Effect.flatMap(sizeOf(path.join(target, file)), meter.noteLogs)
              return unread
            })
          })
        )
      )
    })
  ).pipe(Layer.provide(environment))
