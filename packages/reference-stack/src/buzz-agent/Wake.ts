/**
 * What woke an agent, read from the text of a prompt as `buzz-acp` composes it. Pure.
 */

/** One prompt, taken apart. */
export interface Wake {
  /** Everything before the context: the system prompt, for agents that get it in the text. Empty when it was left out. */
  readonly system: string
  /** The events, or the whole text when it does not come from `buzz-acp`. */
  readonly text: string
  /** UUID of the channel of the last event. */
  readonly channel: string | undefined
  /** Id of the last event. */
  readonly event: string | undefined
  /** Public key of the last event's author. */
  readonly from: string | undefined
}

/** Takes a prompt apart. Only header lines of an event count, never its content. */
export const parse = (prompt: string): Wake => {
  const context = /^\[Context\]$/m.exec(prompt)
  const system = context === null ? "" : prompt.slice(0, context.index)
  const rest = context === null ? prompt : prompt.slice(context.index)
  const events = /^\[Buzz events?\b/m.exec(rest)
  const text = events === null ? rest : rest.slice(events.index)
  const last = [...text.matchAll(EVENT)].at(-1)
  return { system, text, event: last?.[1], channel: last?.[2], from: last?.[3] }
}

/** The fixed lines at the head of one event; content follows only after them. */
const EVENT =
  /^Event ID: ([0-9a-f]{64})\nChannel: .*?\(?#([0-9a-fA-F-]{36})\)?\nKind: \d+\nFrom: .*?hex: ([0-9a-f]{64})\)$/gm
