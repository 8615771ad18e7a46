/**
 * What every command of `buzz` works with: the relay as the caller's identity, and the caller's way of reading and
 * printing.
 */
import type { Filter } from "@buzz-orchestra/relay/Filter"
import type { EventTemplate, NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import { Effect, Result } from "effect"
import type { WriteResult } from "../RelayBridge.ts"
import { type CommandFailed, failed } from "./CommandFailed.ts"
import type { Options, OptionSpec } from "./CommandLine.ts"

export interface CommandContext {
  /** The caller's public key. */
  readonly self: string
  /** `--format`: with `compact`, lists hold fewer fields. */
  readonly format: "json" | "compact"
  /** All of stdin. */
  readonly stdin: Effect.Effect<string, CommandFailed>
  query(...filters: ReadonlyArray<Filter>): Effect.Effect<ReadonlyArray<NostrEvent>, CommandFailed>
  publish(
    template: Omit<EventTemplate, "created_at"> & { readonly created_at?: number }
  ): Effect.Effect<WriteResult, CommandFailed>
}

/** One command: what it takes, and what it does. Its value is printed as one line of JSON. */
export interface Command {
  readonly about: string
  readonly options: ReadonlyArray<OptionSpec>
  /** Objects are printed with their keys as they stand, not sorted. */
  readonly keepsOrder?: true
  run(options: Options, context: CommandContext): Effect.Effect<unknown, CommandFailed>
}

/** The one value of an option that clap has required already. */
export const required = (options: Options, name: string): string => options[name]?.[0] ?? ""

/** A required option that is a UUID. */
export const uuid = (options: Options, name: string): Effect.Effect<string, CommandFailed> =>
  checked(required(options, name), /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, "invalid UUID")

/** A required option of 64 hex digits: an event id or a public key. */
export const hex64 = (options: Options, name: string): Effect.Effect<string, CommandFailed> =>
  checkedHex64(required(options, name))

/** 64 hex digits, in lower case. */
export const checkedHex64 = (text: string): Effect.Effect<string, CommandFailed> =>
  checked(text, /^[0-9a-f]{64}$/i, "must be 64 hex digits")

/** An optional whole number, no greater than `cap`. */
export const natural = (
  options: Options,
  name: string,
  limits: { readonly fallback?: number; readonly cap?: number }
): Effect.Effect<number | undefined, CommandFailed> => {
  const text = options[name]?.[0]
  if (text === undefined) return Effect.succeed(limits.fallback)
  if (!/^\d{1,15}$/.test(text))
    return Effect.fail(failed("user_error", `error: invalid value '${text}' for '--${name}': invalid digit found`))
  return Effect.succeed(Math.min(Number(text), limits.cap ?? Number.MAX_SAFE_INTEGER))
}

/** A check's value, or its text as an error of the caller. */
export const orUserError = <A>(result: Result.Result<A, string>): Effect.Effect<A, CommandFailed> =>
  Effect.fromResult(Result.mapError(result, (text) => failed("user_error", text)))

const checked = (text: string, pattern: RegExp, complaint: string): Effect.Effect<string, CommandFailed> =>
  pattern.test(text) ? Effect.succeed(text.toLowerCase()) : Effect.fail(failed("user_error", `${complaint}: ${text}`))
