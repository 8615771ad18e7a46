/**
 * Plays a playbook: which turn answers a prompt, what each of its responses does, what it costs. Pure; `AgentTurn` acts.
 */
import { Result } from "effect"
import { type Step, TOOL_STEPS, type Turn, type Usage } from "./Playbook.ts"
import type { Team } from "./Team.ts"
import type { Wake } from "./Wake.ts"

/**
 * The turn for a prompt: the first one not yet played whose texts all occur in `text` and whose `unless_file` does not
 * exist. `undefined` when the playbook has nothing to say.
 */
export const choose = (
  turns: ReadonlyArray<Turn>,
  played: ReadonlySet<number>,
  text: string,
  exists: (path: string) => boolean
): { readonly index: number; readonly turn: Turn } | undefined => {
  for (const [index, turn] of turns.entries()) {
    if (played.has(index) && turn.repeat !== true) continue
    if (!texts(turn.when).every((part) => text.includes(part))) continue
    if (turn.unless_file !== undefined && exists(turn.unless_file)) continue
    return { index, turn }
  }
  return undefined
}

const texts = (when: Turn["when"]): ReadonlyArray<string> =>
  when === undefined ? [] : typeof when === "string" ? [when] : when

/**
 * The responses of a turn, each the steps up to a tool call or a stop. Every response of a real model costs tokens, so a
 * turn whose last step is a call has one more, empty response: the model reads the result and ends.
 */
export const responses = (turn: Turn): ReadonlyArray<ReadonlyArray<Step>> => {
  const all: Array<Array<Step>> = [[]]
  for (const step of turn.steps) {
    all.at(-1)?.push(step)
    if (step.stop !== undefined) return all
    if (TOOL_STEPS.some((tool) => step[tool] !== undefined)) all.push([])
  }
  return all
}

/** What placeholders stand for. */
export interface Placeholders {
  readonly team: Team | undefined
  readonly wake: Pick<Wake, "channel" | "event" | "from">
}

/**
 * Fills in `{channel}`, `{event}`, `{from}`, `{self}`, `{user}` and `{member:<name>}`. Other braces are left alone: they
 * belong to the shell. The failure names the placeholder that has no value.
 */
export const fill = (text: string, values: Placeholders): Result.Result<string, string> => {
  const missing: Array<string> = []
  const filled = text.replaceAll(
    /\{(channel|event|from|self|user|member:([^{}]+))\}/g,
    (whole, name: string, member) => {
      const value = lookUp(name, member as string | undefined, values)
      if (value === undefined) missing.push(whole)
      return value ?? ""
    }
  )
  return missing.length === 0 ? Result.succeed(filled) : Result.fail(`no value for ${missing.join(", ")}`)
}

const lookUp = (name: string, member: string | undefined, { team, wake }: Placeholders): string | undefined => {
  if (member !== undefined) return team?.members.find((one) => one.name === member)?.pubkey
  switch (name) {
    case "channel":
      return wake.channel ?? team?.channel
    case "event":
      return wake.event
    case "from":
      return wake.from
    case "self":
      return team?.self.pubkey
    default:
      return team?.user?.pubkey
  }
}

/** Tokens of a text of this length where no count is given: a quarter of it, rounded up. Deterministic, no tokenizer's. */
const tokens = (length: number): number => Math.ceil(length / 4)

/** What one response costs: its `usage` step, else the characters of the conversation so far and of its own texts. */
export const cost = (response: ReadonlyArray<Step>, conversationLength: number): Required<Usage> => {
  const given = response.findLast((step) => step.usage !== undefined)?.usage
  if (given !== undefined) return { input: given.input, output: given.output, cached: given.cached ?? 0 }
  const output = response.reduce((length, step) => length + JSON.stringify(step).length, 0)
  return { input: tokens(conversationLength), output: tokens(output), cached: 0 }
}
