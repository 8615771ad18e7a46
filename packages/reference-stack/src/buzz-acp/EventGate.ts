/**
 * Which events start a turn. Pure: what has to be asked first (an author's profile) is a verdict of its own.
 */
import { type NostrEvent, tagValues } from "@buzz-orchestra/relay/NostrEvent"
import type { AcpConfig } from "./AcpConfig.ts"

/** What an owner may say to the program instead of to the agent. */
export type OwnerCommand = "shutdown" | "cancel" | "rotate"

/** What is known about the agent and its owner. */
export interface GateContext {
  readonly config: Pick<AcpConfig, "respondTo" | "allowlist" | "ignoreSelf" | "mentionsOnly" | "kinds">
  /** Own public key. */
  readonly self: string
  readonly owner: string | undefined
  /** Whether this author is attested by the same owner; `undefined` when nobody asked yet. */
  readonly isSibling: (author: string) => boolean | undefined
}

/** What to do with an event. */
export type Verdict =
  | { readonly _tag: "StartsTurn" }
  | { readonly _tag: "Command"; readonly command: OwnerCommand }
  /** The author's profile decides; ask for it, then decide again. */
  | { readonly _tag: "NeedsProfile" }
  | { readonly _tag: "Dropped"; readonly why: string }

/** Decides about an event of a channel that the agent listens to and that was not seen before. */
export const decide = (event: NostrEvent, context: GateContext): Verdict => {
  const { config, owner, self } = context
  if (config.ignoreSelf && event.pubkey === self) return dropped("own event")
  const mentionsSelf = tagValues(event, "p").includes(self)
  const command =
    event.kind === 9 && mentionsSelf && event.pubkey === owner ? COMMANDS.get(event.content.trim()) : undefined
  if (command !== undefined) return { _tag: "Command", command }
  const author = byAuthor(event.pubkey, context)
  if (author !== undefined) return author
  if (config.kinds !== undefined && !config.kinds.includes(event.kind)) return dropped("kind")
  if (config.mentionsOnly && !mentionsSelf) return dropped("no mention")
  return { _tag: "StartsTurn" }
}

const COMMANDS: ReadonlyMap<string, OwnerCommand> = new Map([
  ["!shutdown", "shutdown"],
  ["!cancel", "cancel"],
  ["!rotate", "rotate"]
])

const byAuthor = (author: string, { config, isSibling, owner }: GateContext): Verdict | undefined => {
  switch (config.respondTo) {
    case "anyone":
      return undefined
    case "nobody":
      return GATED
    case "allowlist":
      return author === owner || config.allowlist.has(author) ? undefined : GATED
    case "owner-only": {
      if (owner === undefined) return GATED
      if (author === owner) return undefined
      const sibling = isSibling(author)
      return sibling === undefined ? { _tag: "NeedsProfile" } : sibling ? undefined : GATED
    }
  }
}

const dropped = (why: string): Verdict => ({ _tag: "Dropped", why })
const GATED = dropped("author gate")
