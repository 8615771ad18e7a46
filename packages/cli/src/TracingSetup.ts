/**
 * Tracing, where the environment names a collector. The exporter is loaded only then: no other start pays for it.
 */
import { Config, Effect, Layer, Option } from "effect"

const ENDPOINTS = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] as const

/**
 * Spans go to the collector, if there is one, under this version. Variables that are wrong cost the spans and a warning: they
 * are often set for a whole machine, by somebody who thought of other programs.
 */
export const layer = (version: string): Layer.Layer<never, Config.ConfigError> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const endpoints = yield* Effect.forEach(ENDPOINTS, (name) => Config.option(Config.String(name)))
      if (!endpoints.some((endpoint) => Option.isSome(endpoint) && endpoint.value !== "")) return Layer.empty
      const Tracing = yield* Effect.promise(() => import("@buzz-orchestra/runtime/Tracing"))
      return Layer.catchCause(Tracing.layer(version), (cause) =>
        Layer.effectDiscard(Effect.logWarning("nothing is traced, because the variables OTEL_* cannot be read", cause))
      )
    })
  )
