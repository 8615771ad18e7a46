/**
 * What a model has been told in a session, and what to do when its window is nearly full. Pure.
 */
import type { HistoryItem } from "./ModelApi.ts"

/** How large a conversation may become. */
export interface Window {
  readonly maxContextTokens: number
  readonly maxOutputTokens: number
}

/** Input tokens from which on the history is handed over: nine tenths of the window, or what an answer leaves of it. */
export const limit = ({ maxContextTokens, maxOutputTokens }: Window): number =>
  Math.min(Math.floor(maxContextTokens * 0.9), maxContextTokens - maxOutputTokens)

/** Tokens where no provider has counted them yet: one for each byte, which is more than there are. */
export const estimate = (system: string, history: ReadonlyArray<HistoryItem>): number =>
  Buffer.byteLength(system) + history.reduce((size, item) => size + Buffer.byteLength(JSON.stringify(item)), 0)

/** Takes the place of the system prompt when a summary is asked for. */
export const SUMMARY_SYSTEM =
  "You hand your work over to yourself. Nobody else reads it, and everything that you do not write down is forgotten."

/** The last thing said before a summary. */
export const SUMMARY_PROMPT =
  "Write down what you need in order to go on: the task, who asked for it and where, what is done, what you found out, what is open, and the next step."

/** The whole conversation as one text: a request without tools may not speak of calls in any other way. */
export const transcript = (history: ReadonlyArray<HistoryItem>): string =>
  history
    .map((item) => {
      switch (item._tag) {
        case "Prompt":
          return `[Prompt]\n${item.text}`
        case "Reply":
          return [
            `[You]\n${item.reply.text}`,
            ...item.reply.calls.map(({ args, name }) => `[Call] ${name} ${JSON.stringify(args)}`)
          ].join("\n")
        case "Results":
          return item.results.map(({ text }) => `[Result]\n${text}`).join("\n")
      }
    })
    .join("\n\n")

/** The history after a handover: the summary, and the prompt that is being answered. */
export const handedOver = (history: ReadonlyArray<HistoryItem>, summary: string): ReadonlyArray<HistoryItem> => {
  const prompt = history.findLast((item) => item._tag === "Prompt")
  return [
    { _tag: "Prompt", text: `[Summary of your work so far]\n${summary}` },
    ...(prompt === undefined ? [] : [prompt])
  ]
}

/**
 * The history without its older half, but with the prompt that its newer half answers. It is cut before a prompt or a reply:
 * results without their calls are refused. What has no such place stays whole.
 */
export const truncated = (history: ReadonlyArray<HistoryItem>): ReadonlyArray<HistoryItem> => {
  const cut = history.findIndex((item, index) => index >= history.length / 2 && item._tag !== "Results")
  if (cut === -1) return history
  const rest = history.slice(cut)
  const prompt = history.slice(0, cut).findLast((item) => item._tag === "Prompt")
  return rest[0]?._tag === "Prompt" || prompt === undefined ? rest : [prompt, ...rest]
}
