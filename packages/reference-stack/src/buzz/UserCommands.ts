/**
 * `buzz users …`: profiles.
 */
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import { Clock, Effect } from "effect"
import type { Options } from "./CommandLine.ts"
import { checkedHex64, type Command, type CommandContext, required } from "./CommandContext.ts"
import { failed } from "./CommandFailed.ts"
import { profileName } from "./Mentions.ts"

/** Profiles asked for in one call. */
const MAX_PROFILES = 200
/** Profiles that a search by name asks for. */
const MAX_FOUND = 100

const setProfile: Command = {
  about: "Publishes your profile, merged over the one the relay has.",
  options: [{ name: "name" }, { name: "avatar" }, { name: "about" }, { name: "nip05" }],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const given = {
      display_name: options["name"]?.[0],
      picture: options["avatar"]?.[0],
      about: options["about"]?.[0],
      nip05: options["nip05"]?.[0]
    }
    if (Object.values(given).every((value) => value === undefined))
      return yield* failed("user_error", "at least one field required (--name, --avatar, --about, --nip05)")
    const [existing] = yield* context.query({ kinds: [EventKind.Profile], authors: [context.self], limit: 1 })
    const before = existing === undefined ? {} : profileFields(existing.content)
    const profile: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(given)) {
      const kept = value ?? before[key] ?? (key === "display_name" ? before["name"] : undefined)
      if (kept !== undefined) profile[key] = kept
    }
    const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    return yield* context.publish({
      kind: EventKind.Profile,
      tags: [],
      content: JSON.stringify(profile),
      // A replaceable event must be newer than what it replaces, and clocks count whole seconds.
      created_at: Math.max(now, (existing?.created_at ?? 0) + 1)
    })
  })
}

const get: Command = {
  about: "Prints profiles; your own without arguments.",
  options: [{ name: "pubkey", isRepeatable: true }, { name: "name" }],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const name = options["name"]?.[0]
    if (name !== undefined && options["pubkey"] !== undefined)
      return yield* failed("user_error", "--name cannot be combined with --pubkey")
    const events = name === undefined ? yield* byPubkey(options, context) : yield* byName(name, context)
    return events.map(({ content, pubkey }) =>
      context.format === "compact"
        ? { display_name: profileName(content) ?? null, pubkey }
        : { ...profileFields(content), pubkey }
    )
  })
}

const byPubkey = Effect.fnUntraced(function* (options: Options, context: CommandContext) {
  const asked = yield* Effect.forEach(options["pubkey"] ?? [context.self], checkedHex64)
  if (asked.length > MAX_PROFILES) return yield* failed("user_error", `at most ${MAX_PROFILES} public keys`)
  return yield* context.query({ kinds: [EventKind.Profile], authors: asked, limit: asked.length })
})

/** The relay's search engine finds more than the name; a relay without one finds nothing, or answers 500. */
const byName = Effect.fnUntraced(function* (name: string, context: CommandContext) {
  const events = yield* context.query({ kinds: [EventKind.Profile], search: name, limit: MAX_FOUND })
  return events.filter(({ content }) => profileName(content)?.toLowerCase().includes(name.toLowerCase()))
})

const presence: Command = {
  about: "Prints who is online or away.",
  options: [{ name: "pubkeys", isRequired: true }],
  run: Effect.fnUntraced(function* (options: Options, context: CommandContext) {
    const asked = yield* Effect.forEach(required(options, "pubkeys").split(","), (one) => checkedHex64(one.trim()))
    const events = yield* context.query({ kinds: [EventKind.PresenceSnapshot], authors: asked, limit: asked.length })
    // As in the real program the key is the signer's, which is the relay, not the one that was asked about.
    return events.map(({ content, created_at, pubkey }) => ({ pubkey, status: content, updated_at: created_at }))
  })
}

const profileFields = (content: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(content)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {}
  } catch {
    // Somebody else's profile: what is no object has no fields.
    return {}
  }
}

/** The group, by command name. */
export const userCommands: Readonly<Record<string, Command>> = { "set-profile": setProfile, get, presence }
