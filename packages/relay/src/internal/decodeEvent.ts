/** Reads one event. A fresh object each time, so no verdict about another object can cling to it. */
import { Schema } from "effect"
import { NostrEvent } from "../NostrEvent.ts"

/** The event in a JSON text, or the schema's issue. */
export const decodeEvent = Schema.decodeUnknownResult(Schema.fromJsonString(NostrEvent))

/** The event in a parsed JSON value, or the schema's issue. */
export const decodeEventValue = Schema.decodeUnknownResult(NostrEvent)
