/**
 * The system prompt of one agent: its persona, then who it is and whom it works with. Pure.
 *
 * Names, roles and keys are data from outside. Whatever they hold, the section stays one paragraph and one table, and an
 * ordinary name stands exactly as the relay shows it, because a mention must repeat it exactly.
 */
import type { AgentCredential, TrialHandle } from "@buzz-orchestra/relay/TrialHandle"

/** What a prompt is composed from. */
export interface SystemPromptInput {
  /** Text of the pinned prompt; it stands first, unchanged. */
  readonly persona: string
  readonly credential: AgentCredential
  readonly handle: Pick<TrialHandle, "channelId" | "credentials" | "user">
}

/** The whole prompt. It ends with a newline. */
export const composeSystemPrompt = ({ credential, handle, persona }: SystemPromptInput): string => {
  const teammates = handle.credentials.filter((other) => other.agentId !== credential.agentId)
  return [
    persona.endsWith("\n") ? persona : `${persona}\n`,
    "## Your team",
    "",
    `You are ${code(credential.agentId)} (pubkey ${code(credential.identity.pubkey)}). ` +
      `You work in the channel ${code(handle.channelId)}.`,
    `The task comes from the user ${code(handle.user.name)} (pubkey ${code(handle.user.identity.pubkey)}); report to them.`,
    "",
    ...(teammates.length === 0 ? SOLO : table(teammates)),
    ""
  ].join("\n")
}

const SOLO = ["You have no teammates: there is nobody to delegate to. Do the whole task yourself."]

const table = (teammates: ReadonlyArray<AgentCredential>): ReadonlyArray<string> => [
  "Your teammates, by the names that wake them when you mention them:",
  "",
  "| Name | Role | Pubkey |",
  "| --- | --- | --- |",
  ...teammates.map(
    ({ agentId, identity, kind, role }) =>
      `| ${plain(agentId)} | ${plain(role === "" ? kind : role)} | ${cell(identity.pubkey)} |`
  )
]

/** Text that Markdown shows as it is. Ordinary names need nothing for that. */
const plain = (text: string): string => {
  const line = oneLine(text)
  return ORDINARY.test(line) ? line : line.replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`)
}

const ORDINARY = /^[\p{L}\p{N}](?:[\p{L}\p{N} .-]|_(?=[\p{L}\p{N}]))*$/u

/** A code span for a row; a text that would end its cell from inside of one is shown as text. */
const cell = (text: string): string => (/[\\|]/.test(text) ? plain(text) : code(text))

/** A code span that holds the text, whatever backticks are in it. */
const code = (text: string): string => {
  const line = oneLine(text)
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length))
  const fence = "`".repeat(longest + 1)
  const padding = line.startsWith("`") || line.endsWith("`") ? " " : ""
  return `${fence}${padding}${line}${padding}${fence}`
}

/** Controls and line separators would end the paragraph or the row; an empty text would leave no span at all. */
const oneLine = (text: string): string => {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim()
  return line === "" ? "-" : line
}
