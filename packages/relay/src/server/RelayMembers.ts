/**
 * Who belongs to a closed relay (NIP-43), and who may change that. Requests are events like any other, but are carried out
 * and not kept; what the relay says about its members it signs itself.
 */
import { Result } from "effect"
import * as EventKind from "../EventKind.ts"
import { type EventTemplate, type NostrEvent, type Tag, tagValues } from "../NostrEvent.ts"

/** What a key is in the relay. */
export type Role = "owner" | "admin" | "member"

/** All roles. */
export const ROLES = ["owner", "admin", "member"] as const satisfies ReadonlyArray<Role>

/** Public key to role, in the order of joining. */
export type RelayMembers = ReadonlyMap<string, Role>

/** The new members, and who came or went. */
export interface MemberChange {
  readonly members: RelayMembers
  /** The key whose membership or role changed, and its role; nothing when it is a member no longer. */
  readonly target: string
  readonly role: Role | undefined
  readonly isNew: boolean
}

/** Seconds that a request's time may lie from the relay's clock. */
export const MAX_SKEW_SECONDS = 120

/** Whether this kind asks for a change of the relay's members. */
export const isRequest = (kind: number): boolean => REQUESTS.has(kind)

const REQUESTS: ReadonlySet<number> = new Set([
  EventKind.AddRelayMember,
  EventKind.RemoveRelayMember,
  EventKind.ChangeRelayRole,
  EventKind.LeaveRelay
])

/** With this owner, as the relay's start demands it; a former one is an administrator from then on. */
export const withOwner = (members: RelayMembers, owner: string): RelayMembers =>
  new Map([
    ...[...members].map(([pubkey, role]) => [pubkey, role === "owner" ? "admin" : role] as const),
    [owner, "owner"]
  ])

/** The change that the request means, if it changes anything, or the relay's text of refusal. `now` in seconds. */
export const decide = (
  members: RelayMembers,
  request: NostrEvent,
  now: number
): Result.Result<MemberChange | undefined, string> => {
  if (Math.abs(now - request.created_at) > MAX_SKEW_SECONDS)
    return Result.fail("invalid: event timestamp too far from server time")
  switch (request.kind) {
    case EventKind.AddRelayMember:
      return add(members, request)
    case EventKind.RemoveRelayMember:
      return removeOther(members, request)
    case EventKind.ChangeRelayRole:
      return changeRole(members, request)
    default:
      return leave(members, request)
  }
}

/** What the relay says about a change: the list of its members, and who was added or removed. */
export const announcements = (change: MemberChange, created_at: number): ReadonlyArray<EventTemplate> => {
  const kind = change.isNew ? EventKind.RelayMemberAdded : EventKind.RelayMemberRemoved
  const notice: EventTemplate = { kind, created_at, content: "", tags: [PROTECTED, ["p", change.target]] }
  const isNotable = change.isNew || change.role === undefined
  return [list(change.members, created_at), ...(isNotable ? [notice] : [])]
}

/** The list of members. */
export const list = (members: RelayMembers, created_at: number): EventTemplate => ({
  kind: EventKind.RelayMembers,
  created_at,
  content: "",
  tags: [PROTECTED, ...[...members].map(([pubkey, role]): Tag => ["member", pubkey, role])]
})

/** Nobody but its author may publish such an event (NIP-70). */
const PROTECTED: Tag = ["-"]

type Decision = Result.Result<MemberChange | undefined, string>

const NOT_AUTHORIZED = "invalid: actor not authorized"

const add = (members: RelayMembers, request: NostrEvent): Decision =>
  Result.gen(function* () {
    const [actor, target, role] = [members.get(request.pubkey), targetOf(request), yield* roleOf(request)]
    if (actor !== "owner" && actor !== "admin") return yield* Result.fail(NOT_AUTHORIZED)
    if (target === undefined) return yield* Result.fail("invalid: missing p tag")
    if (role === "admin" && actor !== "owner") return yield* Result.fail(NOT_AUTHORIZED)
    return members.has(target) ? undefined : { members: joinedBy(members, target, role), target, role, isNew: true }
  })

const removeOther = (members: RelayMembers, request: NostrEvent): Decision => {
  const [actor, target] = [members.get(request.pubkey), targetOf(request)]
  if (actor !== "owner" && actor !== "admin") return Result.fail(NOT_AUTHORIZED)
  if (target === undefined) return Result.fail("invalid: missing p tag")
  if (members.get(target) === "admin" && actor !== "owner") return Result.fail(NOT_AUTHORIZED)
  return without(members, target)
}

const changeRole = (members: RelayMembers, request: NostrEvent): Decision =>
  Result.gen(function* () {
    const [target, role] = [targetOf(request), yield* roleOf(request)]
    if (members.get(request.pubkey) !== "owner") return yield* Result.fail(NOT_AUTHORIZED)
    if (target === undefined) return yield* Result.fail("invalid: missing p tag")
    const current = members.get(target)
    if (current === undefined) return yield* Result.fail("invalid: not a relay member")
    if (current === "owner") return yield* Result.fail("invalid: cannot change the owner")
    return current === role ? undefined : { members: joinedBy(members, target, role), target, role, isNew: false }
  })

const leave = (members: RelayMembers, request: NostrEvent): Decision => {
  if (!request.tags.some(([name]) => name === "-")) return Result.fail("invalid: leave request must include a - tag")
  return members.has(request.pubkey) ? without(members, request.pubkey) : Result.fail("invalid: not a relay member")
}

const without = (members: RelayMembers, target: string): Decision => {
  const role = members.get(target)
  if (role === undefined) return Result.succeed(undefined)
  if (role === "owner") return Result.fail("invalid: cannot remove the owner")
  const rest = new Map([...members].filter(([pubkey]) => pubkey !== target))
  return Result.succeed({ members: rest, target, role: undefined, isNew: false })
}

const joinedBy = (members: RelayMembers, target: string, role: Role): RelayMembers => new Map(members).set(target, role)

/** A `p` tag that is no key counts as missing. */
const targetOf = (request: NostrEvent): string | undefined =>
  tagValues(request, "p").find((value) => /^[0-9a-f]{64}$/.test(value))

/** Nobody is made an owner. */
const roleOf = (request: NostrEvent): Result.Result<"admin" | "member", string> => {
  const role = tagValues(request, "role")[0] ?? "member"
  return role === "admin" || role === "member" ? Result.succeed(role) : Result.fail(`invalid: invalid role: ${role}`)
}
