/**
 * Which members a message names with `@`. Pure. A name that nobody has is no error, here as in the real program: the
 * message goes out without the mention.
 */
import { npubDecode } from "../internal/bech32.ts"

/** A message may carry this many mentions. */
export const MAX_MENTIONS = 50

/** A member and the name of its profile, when it has one. */
export interface NamedMember {
  readonly pubkey: string
  readonly name: string | undefined
}

/** Public keys of the members named in `content`, each once, in the order of the members. */
export const resolve = (content: string, members: ReadonlyArray<NamedMember>): ReadonlyArray<string> => {
  const names = [
    ...new Set(members.flatMap(({ name }) => (name === undefined || name === "" ? [] : [name.toLowerCase()])))
  ]
  const named = mentionedNames(content, names)
  return [
    ...new Set(
      members.flatMap(({ name, pubkey }) => (name !== undefined && named.has(name.toLowerCase()) ? [pubkey] : []))
    )
  ]
}

/** Public keys in `nostr:npub1…` links outside code; no membership is asked for. */
export const links = (content: string): ReadonlyArray<string> => {
  const prose = content.replaceAll(/```[\s\S]*?(?:```|$)|`[^`\n]*`/g, " ")
  return [...prose.matchAll(/nostr:(npub1[a-z0-9]+)/g)].flatMap(([, npub = ""]) => {
    const pubkey = npubDecode(npub)
    return pubkey === undefined ? [] : [pubkey]
  })
}

/** The name of a profile (kind 0): `display_name` if the key exists, else `name`. */
export const profileName = (content: string): string | undefined => {
  try {
    const profile: unknown = JSON.parse(content)
    if (typeof profile !== "object" || profile === null) return undefined
    const fields = profile as Readonly<Record<string, unknown>>
    const name = "display_name" in fields ? fields["display_name"] : fields["name"]
    return typeof name === "string" && name !== "" ? name : undefined
  } catch {
    return undefined
  }
}

/** At each `@` at the start or after white space: the longest known name that ends there, else one word. Lower case. */
const mentionedNames = (content: string, known: ReadonlyArray<string>): ReadonlySet<string> => {
  const longestFirst = known.toSorted((a, b) => b.length - a.length)
  const found = new Set<string>()
  for (const { index } of content.matchAll(/(?<=^|[\t\n\v\f\r ])@/g)) {
    const rest = content.slice(index + 1)
    const lower = rest.toLowerCase()
    const name = longestFirst.find(
      (one) => lower.startsWith(one) && /^(?:$|[\s,;.!?:)\]}])/.test(lower.slice(one.length))
    )
    found.add(name ?? /^[A-Za-z0-9._-]*/.exec(rest)?.[0].toLowerCase() ?? "")
  }
  return found
}
