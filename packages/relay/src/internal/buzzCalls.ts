/** The calls of the `buzz` program that a client is made of: what they are for, what they print, when they are made again. */
import { Effect, Option, Schema } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import type { Actor } from "../BuzzClient.ts"
import { eventId } from "../EventSigning.ts"
import { Hex64, type NostrEvent, Tag } from "../NostrEvent.ts"
import { type RelayReason, RelayRefused } from "../RelayError.ts"
import * as RetryPolicy from "../RetryPolicy.ts"
import * as Program from "./buzzProgram.ts"
import * as Reply from "./programReply.ts"
import { retrying } from "./retrying.ts"

/** Stands in `sig` of events that the program printed: it prints none. */
export const NO_SIGNATURE = "0".repeat(128)

/** The calls of one program. */
export const make = (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  program: Program.BuzzProgramOptions,
  retry: RetryPolicy.RetryPolicy
) => {
  const patiently = <A>(effect: Effect.Effect<A, RelayReason>) =>
    retrying(effect, (reason, failures, random) => RetryPolicy.pauseMillis(retry, reason, failures, random))

  /** As `patiently`, for what must not be done twice: after a failure it is looked for first. */
  const once = <A>(action: Effect.Effect<A, RelayReason>, done: Effect.Effect<A | undefined, RelayReason>) => {
    let isFirst = true
    return patiently(
      Effect.suspend(() => {
        if (!isFirst) return Effect.filterOrElse(done, isFound<A>, () => action)
        isFirst = false
        return action
      })
    )
  }

  const write = (actor: Actor, args: ReadonlyArray<string>, content?: string) =>
    Effect.flatMap(
      Program.call(spawner, program, actor, { args, ...(content === undefined ? {} : { content }) }),
      ({ called, value }) => Effect.fromResult(Reply.writtenOf(called, value))
    )

  const accepted = (actor: Actor, args: ReadonlyArray<string>) =>
    patiently(
      Effect.filterOrElse(
        write(actor, args),
        ({ accepted }) => accepted,
        ({ message }) => refused(actor, message)
      )
    )

  const list = (actor: Actor, args: ReadonlyArray<string>) =>
    Effect.flatMap(Program.call(spawner, program, actor, { args }), ({ called, value }) =>
      Effect.fromResult(Reply.listOf(called, value))
    )

  const events = Effect.fnUntraced(function* (actor: Actor, args: ReadonlyArray<string>) {
    const { called, value } = yield* Program.call(spawner, program, actor, { args })
    const printed = yield* Effect.fromResult(Reply.listOf(called, value))
    return printed.flatMap((one) => Option.toArray(eventOf(one)))
  })

  return { accepted, events, list, once, patiently, write }
}

/** The relay's no, where the program says it with exit code 0. */
export const refused = (actor: Actor, detail: string) =>
  Effect.fail(new RelayRefused({ url: actor.relayUrl, status: undefined, detail }))

const Printed = Schema.Struct({
  id: Hex64,
  pubkey: Hex64,
  created_at: Schema.Int,
  kind: Schema.Int,
  tags: Schema.Array(Tag),
  content: Schema.String
})

const decodePrinted = Schema.decodeUnknownOption(Printed)

/** An event whose id is that of its content. */
const eventOf = (value: unknown): Option.Option<NostrEvent> =>
  Option.map(
    Option.filter(decodePrinted(value), (event) => eventId(event) === event.id),
    (event) => ({ ...event, sig: NO_SIGNATURE })
  )

const isFound = <A>(value: A | undefined): value is A => value !== undefined
