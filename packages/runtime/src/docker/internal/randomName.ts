/**
 * Six random characters that tell one thing from another of the same name.
 */
import { Effect, Random } from "effect"

const CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789"

const LENGTH = 6

export const randomName: Effect.Effect<string> = Effect.map(
  Effect.all(Array.from({ length: LENGTH }, () => Random.nextIntBetween(0, CHARACTERS.length - 1))),
  (places) => places.map((at) => CHARACTERS[at]).join("")
)
