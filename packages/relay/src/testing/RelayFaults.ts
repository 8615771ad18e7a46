/**
 * Test facility: makes trouble on an embedded relay. Provide it to `EmbeddedRelay.layer` and to the test alike.
 */
import { Context, Deferred, Effect, Latch, Layer } from "effect"
import { Faults, type HttpFault } from "../server/Faults.ts"

/** Trouble on demand, for the relay that this layer is provided to. */
export class RelayFaults extends Context.Service<
  RelayFaults,
  {
    /**
     * The next `count` HTTP requests (to `path` when given; upgrades go to `/`) get this answer instead of the real
     * one.
     */
    answerNext(count: number, fault: HttpFault & { readonly path?: string }): Effect.Effect<void>
    /** How many of the answers asked for are still to be given. */
    readonly remaining: Effect.Effect<number>
    /** Cuts every open WebSocket without a farewell. New ones are served. */
    readonly cutConnections: Effect.Effect<void>
    /** Nothing more is sent on any WebSocket until `resumeSending`; connections stay open, requests are still taken. */
    readonly pauseSending: Effect.Effect<void>
    readonly resumeSending: Effect.Effect<void>
  }
>()("@buzz-orchestra/relay/testing/RelayFaults") {
  static readonly layer: Layer.Layer<RelayFaults> = Layer.effectContext(
    Effect.gen(function* () {
      const sending = yield* Latch.make(true)
      let planned: ReadonlyArray<HttpFault & { readonly path?: string }> = []
      let cut = yield* Deferred.make<void>()
      const faults = RelayFaults.of({
        answerNext: Effect.fn("RelayFaults.answerNext")((count, fault) =>
          Effect.sync(() => {
            planned = [...planned, ...Array.from({ length: count }, () => ({ ...fault }))]
          })
        ),
        remaining: Effect.sync(() => planned.length),
        cutConnections: Effect.gen(function* () {
          const current = cut
          cut = yield* Deferred.make<void>()
          yield* Deferred.succeed(current, undefined)
        }),
        pauseSending: Effect.asVoid(sending.close),
        resumeSending: Effect.asVoid(sending.open)
      })
      return Context.make(RelayFaults, faults).pipe(
        Context.add(Faults, {
          httpFault: (path) =>
            Effect.sync(() => {
              const fault = planned.find((fault) => fault.path === undefined || fault.path === path)
              planned = planned.filter((other) => other !== fault)
              return fault
            }),
          connectionCut: Effect.suspend(() => Deferred.await(cut)),
          maySend: sending.await
        })
      )
    })
  )
}
