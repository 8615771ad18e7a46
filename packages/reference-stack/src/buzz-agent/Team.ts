/**
 * What an agent knows about itself and its team, read from the section that the launcher appends to its system prompt.
 * Pure.
 */

/** A name with its public key. */
export interface Member {
  readonly name: string
  readonly pubkey: string
}

/** The agent, the user it works for, and its team mates. */
export interface Team {
  readonly self: Member
  readonly channel: string | undefined
  readonly user: Member | undefined
  readonly members: ReadonlyArray<Member>
}

/**
 * Reads "You are `lead-1` (pubkey `…`)", "channel `…`", "user `…` (pubkey `…`)" and the rows of the team's table. The last
 * of several wins: the launcher's section comes after the persona's text. `undefined` when the prompt names no agent.
 */
export const parse = (systemPrompt: string): Team | undefined => {
  const self = lastMatch(systemPrompt, /You are `([^`\n]+)` \(pubkey `([^`\n]+)`\)/g)
  if (self === undefined) return undefined
  const section = systemPrompt.slice(self.index)
  const user = lastMatch(section, /user `([^`\n]+)` \(pubkey `([^`\n]+)`\)/g)
  const rows = section.matchAll(/^\| (.+?) \| .+? \| `([^`|\n]+)` \|$/gm)
  return {
    self: member(self),
    channel: lastMatch(section, /channel `([^`\n]+)`/g)?.[1],
    user: user === undefined ? undefined : member(user),
    members: [...rows].map(member)
  }
}

const lastMatch = (text: string, pattern: RegExp): RegExpExecArray | undefined => [...text.matchAll(pattern)].at(-1)

const member = (match: RegExpExecArray): Member => ({
  name: (match[1] ?? "").replaceAll(/\\([!-/:-@[-`{-~])/g, "$1"),
  pubkey: match[2] ?? ""
})
