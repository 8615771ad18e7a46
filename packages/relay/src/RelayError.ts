/**
 * Everything that can go wrong between us and a relay, as one closed union of reasons.
 */
import { Schema } from "effect"

/** The relay could not be reached or the connection broke. Transient: the caller may retry. */
export class RelayUnreachable extends Schema.TaggedError<RelayUnreachable>()("RelayUnreachable", {
  url: Schema.String,
  detail: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `no connection to ${this.url}: ${this.detail}`
  }
}

/** The relay asked to slow down (HTTP 429 or `rate-limited:`). Transient. */
export class RelayRateLimited extends Schema.TaggedError<RelayRateLimited>()("RelayRateLimited", {
  url: Schema.String,
  detail: Schema.String,
  retryAfterMillis: Schema.UndefinedOr(Schema.Finite)
}) {
  override get message() {
    return `${this.url} asks to slow down: ${this.detail}`
  }
}

/** The relay did not accept this identity: authentication or membership. */
export class RelayAuthRefused extends Schema.TaggedError<RelayAuthRefused>()("RelayAuthRefused", {
  url: Schema.String,
  pubkey: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `${this.url} does not accept the key ${this.pubkey}: ${this.detail}`
  }
}

/** The relay understood the request and refused it (status 4xx, `accepted: false`, or CLOSED by a rule). */
export class RelayRefused extends Schema.TaggedError<RelayRefused>()("RelayRefused", {
  url: Schema.String,
  /** HTTP status, when the refusal came over HTTP. */
  status: Schema.UndefinedOr(Schema.Int),
  detail: Schema.String
}) {
  override get message() {
    return `${this.url} refused: ${this.detail}${this.status === undefined ? "" : ` (status ${this.status})`}`
  }
}

/** The relay answered with something that is not the protocol. */
export class RelayReplyMalformed extends Schema.TaggedError<RelayReplyMalformed>()("RelayReplyMalformed", {
  url: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `${this.url} does not speak the protocol: ${this.detail}`
  }
}

/** A relay URL whose scheme the place it is used in cannot take. */
export class RelayUrlInvalid extends Schema.TaggedError<RelayUrlInvalid>()("RelayUrlInvalid", {
  url: Schema.String,
  /** What would have been accepted, such as `ws:// or wss://`. */
  expected: Schema.String
}) {
  override get message() {
    return `${this.url} is not a relay URL that starts with ${this.expected}`
  }
}

/** Content over the limit of a channel message, found before anything is sent. Sizes in bytes. */
export class MessageTooLong extends Schema.TaggedError<MessageTooLong>()("MessageTooLong", {
  size: Schema.Int,
  limit: Schema.Int
}) {
  override get message() {
    return `a message of ${this.size} bytes is over the limit of ${this.limit}; shorten it or put the text into a file`
  }
}

/** The relay stored the message without a mention that was asked for, so nobody would wake. */
export class MentionNotStored extends Schema.TaggedError<MentionNotStored>()("MentionNotStored", {
  eventId: Schema.String,
  missing: Schema.Array(Schema.String)
}) {
  override get message() {
    return `the relay stored the message ${this.eventId} without the mention of ${this.missing.join(", ")}, so nobody would wake`
  }
}

/** The `buzz` program could not be run, ended in no way it documents, or did not end in time. */
export class BuzzProgramFailed extends Schema.TaggedError<BuzzProgramFailed>()("BuzzProgramFailed", {
  program: Schema.String,
  detail: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `${this.program} failed: ${this.detail}`
  }
}

/** The `buzz` program is of a build that cannot mention by key, so nobody would wake. Nothing was sent. */
export class MentionsUnsupported extends Schema.TaggedError<MentionsUnsupported>()("MentionsUnsupported", {
  program: Schema.String
}) {
  override get message() {
    return `${this.program} has no \`messages send --mention\`, so nobody would wake; use a newer build or the native client`
  }
}

/** The clocks differ by more than the relay tolerates: it would refuse every signature of ours. */
export class ClockSkewed extends Schema.TaggedError<ClockSkewed>()("ClockSkewed", {
  url: Schema.String,
  /** The relay's clock minus this machine's. */
  skewSeconds: Schema.Finite,
  limitSeconds: Schema.Finite
}) {
  override get message() {
    const where = this.skewSeconds > 0 ? "behind" : "ahead of"
    return `this machine's clock is ${Math.abs(this.skewSeconds)} s ${where} that of ${this.url}, which takes at most ${this.limitSeconds} s`
  }
}

/** A key that is no key: wrong length, not hex, not a scalar, bad bech32. Never carries the text. */
export class KeyInvalid extends Schema.TaggedError<KeyInvalid>()("KeyInvalid", {
  expected: Schema.String
}) {
  override get message() {
    return `not a key: expected ${this.expected}`
  }
}

/** Every reason for which a relay operation fails. */
export const RelayReason = Schema.Union([
  RelayUnreachable,
  RelayRateLimited,
  RelayAuthRefused,
  RelayRefused,
  RelayReplyMalformed,
  RelayUrlInvalid,
  MessageTooLong,
  MentionNotStored,
  BuzzProgramFailed,
  MentionsUnsupported,
  ClockSkewed,
  KeyInvalid
])
/** Every reason for which a relay operation fails. */
export type RelayReason = typeof RelayReason.Type

/** A relay operation failed; `reason` says how. */
export class RelayError extends Schema.TaggedError<RelayError>()("RelayError", {
  /** What was attempted, such as `BuzzClient.send`. */
  operation: Schema.String,
  reason: RelayReason
}) {
  override get message() {
    return `${this.operation}: ${this.reason.message}`
  }
}

/** Whether trying again later can help: unreachable and rate-limited are, everything else is a decision of the relay. */
export const isTransient = (error: RelayError): boolean =>
  error.reason._tag === "RelayUnreachable" || error.reason._tag === "RelayRateLimited"
