/**
 * What happens to a channel, its relay and the connection of whoever watches it: one random schedule. Everything in it is a
 * value, so a schedule that finds a gap can be read and repeated.
 */
import { Schema } from "effect"

/** How a subscription gets an event: not at all, once, twice, or some steps later. A query has it at once. */
const Fate = Schema.Literals(["delivered", "lost", "twice", "late"])
export type Fate = typeof Fate.Type

/** Seconds by which the author's clock is wrong, as far as a relay takes it. Few values, so that times repeat. */
const Skew = Schema.Literals([-900, -1, 0, 0, 1, 900])

const Message = Schema.TaggedStruct("Publish", {
  by: Schema.Literals(["lead", "worker"]),
  text: Schema.Literals(["words", "words", "DONE: it", "> DONE: quoted", "not DONE: yet"]),
  fate: Fate,
  skew: Skew
})

/** Events that nobody who may speak has published, as they could come from a relay that does not check. */
const Forged = Schema.TaggedStruct("Forge", {
  what: Schema.Literals(["signature", "id", "author", "channel", "edit", "reaction", "system message"])
})

export const Step = Schema.Union([
  Message,
  Message,
  Message,
  Forged,
  /** The connection ends. */
  Schema.TaggedStruct("Cut", {}),
  /** The connection stays, and nothing passes any more in either direction. */
  Schema.TaggedStruct("HalfOpen", {}),
  /** The relay goes away for some seconds; what it has stored stays. */
  Schema.TaggedStruct("Restart", { seconds: Schema.Literals([1, 20]) }),
  /** The next requests over HTTP fail. */
  Schema.TaggedStruct("Trouble", { status: Schema.Literals([503, 429, 500]), requests: Schema.Literals([1, 3]) }),
  /** From now on each page of a query takes so long. */
  Schema.TaggedStruct("Slow", { seconds: Schema.Literals([0, 1, 4]) }),
  /** The relay closes the subscription for a reason that passes. */
  Schema.TaggedStruct("Close", { text: Schema.Literals(["error: shutting down", "auth-required: not authenticated"]) }),
  /** The relay says nothing of the next subscription's stored events and their end. */
  Schema.TaggedStruct("NoEose", {}),
  /** The relay is too busy for the next subscription, and says so to nobody in particular. */
  Schema.TaggedStruct("Busy", {}),
  Schema.TaggedStruct("RefuseAuth", {}),
  Schema.TaggedStruct("Wait", { seconds: Schema.Literals([1, 5, 35]) })
])
export type Step = typeof Step.Type

/** Before the observation, before the task, and after it. */
export const Schedule = Schema.Struct({
  history: Schema.Array(Message).pipe(Schema.check(Schema.isMaxLength(5))),
  before: Schema.Array(Step).pipe(Schema.check(Schema.isMaxLength(4))),
  after: Schema.Array(Step).pipe(Schema.check(Schema.isMaxLength(8)))
})
export type Schedule = typeof Schedule.Type
