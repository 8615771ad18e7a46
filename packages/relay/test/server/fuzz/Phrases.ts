/**
 * Events and filters of a fuzzed life, drawn so that many of them mean something: a reaction names an event that is there, an
 * invitation a person, a question a channel.
 */
import type { Tag } from "../../../src/NostrEvent.ts"
import { CHANNEL, OTHER_CHANNEL } from "../support.ts"
import type { Dice } from "./FuzzStep.ts"

/** What can be named: ids of events, the newest first, and keys. */
export interface World {
  readonly ids: ReadonlyArray<string>
  readonly pubkeys: ReadonlyArray<string>
}

const THIRD_CHANNEL = "33333333-3333-4333-8333-333333333333"
const CHANNELS = [
  CHANNEL,
  CHANNEL,
  CHANNEL,
  CHANNEL,
  OTHER_CHANNEL,
  OTHER_CHANNEL,
  OTHER_CHANNEL,
  OTHER_CHANNEL,
  THIRD_CHANNEL
]

/** Kinds with rules of their own, the common ones more often. */
export const KINDS = [
  9, 9, 9, 9, 9, 9, 9, 9000, 9000, 9000, 9001, 9001, 9002, 9002, 9005, 9005, 9005, 9007, 9007, 9008, 9021, 9021, 9022,
  5, 5, 7, 7, 40_003, 40_003, 40_002, 0, 1, 1059, 9030, 9030, 9031, 9031, 9031, 9032, 28_936, 10_100, 20_001, 20_002,
  24_200, 30_078, 30_174, 40_007, 45_001, 45_003, 48_100, 3, 8000, 13_534, 22_242, 24_242, 27_235, 30_622, 39_000,
  39_002, 40_099, 40_902, 44_100, 50_000, -1, 70_000
]

const GLOBAL = new Set([0, 1, 3, 1059, 9030, 9031, 9032, 28_936, 10_100, 20_001, 24_200, 30_078, 30_174])

/** The tags without which an event of this kind is refused. */
export const wantedTags = (kind: number, dice: Dice, { ids, pubkeys }: World): ReadonlyArray<Tag> => {
  const channel: ReadonlyArray<Tag> = GLOBAL.has(kind) ? [] : [["h", dice.pick(CHANNELS)]]
  const whom = (): Tag => ["p", dice.pick(pubkeys)]
  const role = (): Tag => ["role", dice.pick(["member", "admin", "bot", "owner", "king"])]
  switch (kind) {
    case 5:
    case 7:
    case 9005:
    case 40_003:
      return [...channel, ["e", dice.pick([...ids.slice(0, 12), "f".repeat(64)])]]
    case 9:
    case 45_003:
      return dice.rarely(3) ? [...channel, ["e", dice.pick(ids), "", "reply"], whom()] : channel
    case 9000:
    case 9030:
    case 9032:
      return dice.pick([
        [...channel, whom()],
        [...channel, whom(), role()]
      ])
    case 9001:
    case 9031:
    case 1059:
    case 24_200:
      return [...channel, whom()]
    case 9002: {
      const fields: ReadonlyArray<Tag> = [
        ["visibility", "open"],
        ["visibility", "private"],
        ["archived", "true"],
        ["archived", "false"],
        ["topic", "x"]
      ]
      return [...channel, dice.pick(fields)]
    }
    case 9007:
      return [...channel, ["name", "a channel"], ["visibility", dice.pick(["open", "private"])]]
    case 28_936:
      return [["-"]]
    default:
      return channel
  }
}

/** A tag that nobody asked for. */
export const strayTag = (dice: Dice, { ids, pubkeys }: World): Tag => {
  const name = dice.pick(["h", "e", "p", "role", "visibility", "archived", "name", "d", "a", "-", "imeta"])
  const value = dice.pick([
    dice.pick(ids),
    dice.pick(pubkeys),
    dice.pick([CHANNEL.toUpperCase(), THIRD_CHANNEL, "no channel"]),
    dice.pick(["open", "private", "true", "owner", "admin"]),
    `${dice.pick([0, 10_100, 30_078, 39_000])}:${dice.pick(pubkeys)}:${dice.pick(["", CHANNEL])}`,
    "😀".repeat(70)
  ])
  return [name, value, "", dice.pick(["", "reply", "root"])]
}

const PLAIN_KINDS = [0, 5, 7, 9, 9000, 20_002, 39_000, 39_002, 40_003, 40_099]

/** Some questions; one in four is none that anybody may ask, or has nonsense where a number belongs. */
export const filters = (dice: Dice, { ids, pubkeys }: World): ReadonlyArray<object> =>
  dice.some(3, () => {
    // Whoever knows an id may ask for it without saying a kind.
    if (dice.rarely(6)) return { ids: [dice.pick(ids), dice.pick(ids), dice.pick(ids)] }
    const chosen = <A>(name: string, rarity: number, draw: () => A): object =>
      dice.rarely(rarity) ? { [name]: dice.some(2, draw) } : {}
    const one = (name: string, rarity: number, values: ReadonlyArray<unknown>): object =>
      dice.rarely(rarity) ? { [name]: dice.pick(values) } : {}
    return {
      ...(dice.rarely(4) ? chosen("kinds", 2, () => dice.pick(KINDS)) : { kinds: PLAIN_KINDS }),
      ...chosen("ids", 6, () => dice.pick(ids)),
      ...chosen("authors", 6, () => dice.pick(pubkeys)),
      ...(dice.rarely(3) ? { "#h": [dice.pick(CHANNELS)] } : chosen("#h", 6, () => dice.pick(CHANNELS))),
      ...chosen("#p", 6, () => dice.pick(pubkeys)),
      ...chosen("#e", 8, () => dice.pick(ids)),
      ...one("limit", 4, [0, 1, 5, 1e9, -1, 2.5, "5"]),
      ...one("until", 8, [0, 1e12, 1e12, -1]),
      ...one(dice.pick(["constructor", "__proto__", "x"]), 12, [1]),
      ...one("search", 12, ["needle", "", "e"]),
      ...one("depth_limit", 12, [0, 5, -1]),
      ...one("feed_types", 12, [["mentions"], ["activity"], ["needs_action", "constructor"], [1]])
    }
  })
