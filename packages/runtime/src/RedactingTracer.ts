/**
 * A tracer that takes secrets out of everything a span says before another tracer sees it: its name, its attributes, its events
 * and the error it ends with. Pure.
 */
import { Cause, Exit, Tracer } from "effect"
import { scrubbed } from "./internal/scrubbed.ts"
import type { Redact } from "./TraceRedaction.ts"

/** Spans of `inner`, with `redact` applied to every text in them. */
export const make = (inner: Tracer.Tracer, redact: Redact): Tracer.Tracer =>
  Tracer.make({
    ...inner,
    span: (options) => new RedactingSpan(inner.span({ ...options, name: redact(options.name) }), redact)
  })

class RedactingSpan implements Tracer.Span {
  readonly _tag = "Span"
  private readonly inner: Tracer.Span
  private readonly redact: Redact

  constructor(inner: Tracer.Span, redact: Redact) {
    this.inner = inner
    this.redact = redact
  }

  get name() {
    return this.inner.name
  }
  get spanId() {
    return this.inner.spanId
  }
  get traceId() {
    return this.inner.traceId
  }
  get parent() {
    return this.inner.parent
  }
  get annotations() {
    return this.inner.annotations
  }
  get status() {
    return this.inner.status
  }
  get attributes() {
    return this.inner.attributes
  }
  get links() {
    return this.inner.links
  }
  get sampled() {
    return this.inner.sampled
  }
  get kind() {
    return this.inner.kind
  }

  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    this.inner.end(endTime, withoutSecrets(exit, this.redact))
  }

  attribute(key: string, value: unknown): void {
    this.inner.attribute(key, scrubbed(value, this.redact))
  }

  event(name: string, startTime: bigint, attributes?: Record<string, unknown>): void {
    this.inner.event(
      this.redact(name),
      startTime,
      attributes === undefined ? undefined : scrubbed(attributes, this.redact)
    )
  }

  addLinks(links: ReadonlyArray<Tracer.SpanLink>): void {
    this.inner.addLinks(links)
  }
}

/** A failure that says nothing secret stays what it is. */
const withoutSecrets = (exit: Exit.Exit<unknown, unknown>, redact: Redact): Exit.Exit<unknown, unknown> => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return exit
  const said = Cause.pretty(exit.cause)
  const shown = redact(said)
  if (shown === said) return exit
  const error = new Error(shown.split("\n")[0] ?? "")
  error.stack = shown
  return Exit.fail(error)
}
