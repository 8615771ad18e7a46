/**
 * Sends the spans of a process to an OpenTelemetry collector, when its environment names one as the OpenTelemetry
 * specification says: `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, with the other variables of the
 * exporter. Over HTTP, as protobuf unless `OTEL_EXPORTER_OTLP_PROTOCOL` says `http/json`.
 */
import { Config, ConfigProvider, Effect, Layer, Tracer } from "effect"
import { FetchHttpClient } from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import * as RedactingTracer from "./RedactingTracer.ts"
import { TraceRedaction } from "./TraceRedaction.ts"

/** What the specification has where nothing is said: Effect's exporter wants to be asked for. */
const DEFAULTS = ConfigProvider.fromUnknown({
  OTEL_TRACES_EXPORTER: "otlp",
  OTEL_SERVICE_NAME: "buzz-orchestra"
})

const serialization = Layer.unwrap(
  Effect.gen(function* () {
    const protocol = yield* Config.String("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL").pipe(
      Config.orElse(() => Config.String("OTEL_EXPORTER_OTLP_PROTOCOL")),
      Config.withDefault("http/protobuf")
    )
    return protocol === "http/json" ? OtlpSerialization.layerJson : OtlpSerialization.layerProtobuf
  })
)

/**
 * The tracer, in front of which stands one that takes out what running trials hold in `TraceRedaction`. What is not sent yet is
 * sent when the layer's scope closes, within the exporter's time limit; a collector that is away costs spans and nothing else.
 */
export const layer = (serviceVersion: string): Layer.Layer<never> =>
  Layer.effect(
    Tracer.Tracer,
    Effect.gen(function* () {
      const { apply } = yield* TraceRedaction
      return RedactingTracer.make(yield* Effect.tracer, apply)
    })
  ).pipe(
    Layer.provide(OtlpTracer.layerFromConfig({ resource: { serviceVersion } })),
    Layer.provide(serialization),
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(ConfigProvider.layerAdd(DEFAULTS)),
    Layer.orDie
  )
