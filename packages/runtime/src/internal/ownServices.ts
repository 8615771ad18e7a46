/**
 * What a layer keeps for its methods: the services they need, without what belongs to whoever built the layer. A method runs in
 * the span and the scope of its caller.
 */
import { Context, Effect, Scope, Tracer } from "effect"

/** To be provided to methods; everything that they do not get here they have from their caller. */
export const ownServices = <R>(): Effect.Effect<Context.Context<R>, never, R> =>
  Effect.map(Effect.context<R>(), (context) => withoutBuilder(context) as Context.Context<R>)

const withoutBuilder = Context.omit(Scope.Scope, Tracer.ParentSpan)
