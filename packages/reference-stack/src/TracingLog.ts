/**
 * Writes log lines as the Rust programs do. What a line looks like is `TracingLine`, which lines appear is `LogFilter`.
 */
import { Clock, Context, Effect, Layer } from "effect"
import * as LogFilter from "./LogFilter.ts"
import * as TracingLine from "./TracingLine.ts"

export class TracingLog extends Context.Service<
  TracingLog,
  {
    /** Writes one line, when the filter lets it through. Lines of one process keep their order. */
    log(
      level: TracingLine.Level,
      target: string,
      message: string,
      fields?: TracingLine.LogRecord["fields"]
    ): Effect.Effect<void>
  }
>()("@buzz-orchestra/reference-stack/TracingLog") {
  /** Writes through `write`, one call per line, the newline included. */
  static readonly layerWith = (options: {
    readonly filter: LogFilter.LogFilter
    readonly ansi: boolean
    readonly write: (line: string) => void
  }): Layer.Layer<TracingLog> =>
    Layer.succeed(
      TracingLog,
      TracingLog.of({
        log: (level, target, message, fields) =>
          LogFilter.isEnabled(options.filter, target, level)
            ? Effect.map(Clock.currentTimeNanos, (nanos) =>
                options.write(
                  `${TracingLine.format({ nanos, level, target, message, ...(fields === undefined ? {} : { fields }) }, options)}\n`
                )
              )
            : Effect.void
      })
    )

  /** As `buzz-acp`: to stdout, coloured even into a file unless `NO_COLOR` is non-empty, filtered by `RUST_LOG`. */
  static readonly layerStdout = (env: Readonly<Record<string, string | undefined>>): Layer.Layer<TracingLog> =>
    TracingLog.layerWith({
      filter: LogFilter.parse(env["RUST_LOG"], "buzz_acp=info"),
      ansi: (env["NO_COLOR"] ?? "") === "",
      write: (line) => void process.stdout.write(line)
    })

  /** As `buzz-agent`: to stderr (stdout speaks the protocol), uncoloured, INFO and above whatever `RUST_LOG` says. */
  static readonly layerStderr: Layer.Layer<TracingLog> = TracingLog.layerWith({
    filter: LogFilter.parse("info", "info"),
    ansi: false,
    write: (line) => void process.stderr.write(line)
  })
}
