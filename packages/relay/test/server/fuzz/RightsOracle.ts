/**
 * Who may do what on a relay, written down a second time and from the other side: it is told of each event that the relay took,
 * says whether the relay was right to, and knows from then on who may see what. It shares no code with the relay's rules.
 */
import { assert } from "@effect/vitest"
import type { NostrEvent } from "../../../src/NostrEvent.ts"

interface KnownChannel {
  isOpen: boolean
  isArchived: boolean
  isDeleted: boolean
  /** Public key to role. */
  readonly roles: Map<string, string>
}

const SEALED = new Set([1059, 24_200, 44_100, 44_101, 30_622])
const ABOUT_ANOTHER = new Set([5, 7])
const BY_RELAY_ONLY = new Set([
  8000, 8001, 13_534, 22_242, 27_235, 24_242, 30_621, 30_622, 39_000, 39_001, 39_002, 40_099, 40_901, 40_902, 44_100,
  44_101
])
const isInChannel = (kind: number): boolean =>
  kind === 9 ||
  (kind >= 9000 && kind <= 9022) ||
  (kind >= 40_002 && kind <= 40_100) ||
  (kind >= 45_001 && kind <= 45_003) ||
  (kind >= 48_100 && kind <= 48_106) ||
  (kind >= 20_000 && kind < 30_000 && kind !== 20_001 && kind !== 24_200)

const tag = (event: NostrEvent, name: string): string | undefined => event.tags.find(([key]) => key === name)?.[1]
const isElevated = (role: string | undefined): boolean => role === "owner" || role === "admin"

export class RightsOracle {
  readonly channels = new Map<string, KnownChannel>()
  private readonly channelOf = new Map<string, string | undefined>()
  private readonly events = new Map<string, NostrEvent>()
  /** Of a closed relay; nothing of an open one. */
  readonly members: Map<string, string> | undefined
  private readonly relay: string

  constructor(relay: string, owner: string | undefined) {
    this.relay = relay
    this.members = owner === undefined ? undefined : new Map([[owner, "owner"]])
  }

  /** Whether the relay may listen to this key at all, which `owner` has attested. */
  mayUse(pubkey: string, owner: string | undefined): boolean {
    return this.members === undefined || this.members.has(pubkey) || (owner !== undefined && this.members.has(owner))
  }

  /** The relay took this event from this key: it must have had the right to, and what follows from it holds from now on. */
  took(event: NostrEvent, by: string): void {
    const about = `${event.kind} by ${by.slice(0, 4)}: ${JSON.stringify(event.tags)}`
    assert.isFalse(BY_RELAY_ONLY.has(event.kind), `${about} is for the relay alone`)
    if (event.kind !== 1059) assert.strictEqual(event.pubkey, by, about)
    if ([9030, 9031, 9032, 28_936].includes(event.kind)) return this.administered(event, about)
    const id = this.place(event)
    if (id !== undefined) this.tookInChannel(event, id, about)
    if (event.kind === 5) {
      const target = this.events.get(tag(event, "e") ?? "")
      assert.isTrue(tag(event, "a") !== undefined || target?.pubkey === event.pubkey, `${about} deletes another's`)
    }
    this.events.set(event.id, event)
    this.channelOf.set(event.id, id)
  }

  /** Whether this key may see the event. */
  maySee(event: NostrEvent, pubkey: string): boolean {
    const id = this.place(event)
    if (id !== undefined) return this.mayRead(id, pubkey)
    return (
      !SEALED.has(event.kind) ||
      event.pubkey === pubkey ||
      event.tags.some(([name, to]) => name === "p" && to === pubkey)
    )
  }

  private mayRead(id: string, pubkey: string): boolean {
    const channel = this.channels.get(id)
    return channel !== undefined && !channel.isDeleted && (channel.isOpen || channel.roles.has(pubkey))
  }

  /** The channel that an event belongs to. */
  private place(event: NostrEvent): string | undefined {
    if (event.pubkey === this.relay && event.kind >= 39_000 && event.kind <= 39_002) return tag(event, "d")
    if (ABOUT_ANOTHER.has(event.kind)) {
      if (this.channelOf.has(event.id)) return this.channelOf.get(event.id)
      const ids = event.tags.flatMap(([name, id]) => (name === "e" && id !== undefined ? [id] : []))
      return this.channelOf.get((event.kind === 7 ? ids.at(-1) : ids[0]) ?? "")
    }
    return isInChannel(event.kind) ? tag(event, "h")?.toLowerCase() : undefined
  }

  private tookInChannel(event: NostrEvent, id: string, about: string): void {
    const channel = this.channels.get(id)
    const actor = event.pubkey
    if (event.kind === 9007) {
      assert.isUndefined(channel, `${about} is a channel already`)
      const isOpen = tag(event, "visibility") !== "private"
      this.channels.set(id, { isOpen, isArchived: false, isDeleted: false, roles: new Map([[actor, "owner"]]) })
      return
    }
    // An ephemeral event may name what is no channel: nobody can hear it.
    if (channel === undefined && event.kind >= 20_000 && event.kind < 30_000 && !/^[0-9a-f-]{36}$/.test(id)) return
    assert.isDefined(channel, `${about} has no channel`)
    assert.isFalse(channel.isDeleted, `${about} is in a deleted channel`)
    const role = channel.roles.get(actor)
    if (event.kind === 9021) assert.isTrue(channel.isOpen, `${about} joins a private channel`)
    else assert.isTrue(channel.isOpen || role !== undefined, `${about} is by no member`)
    if (event.kind < 20_000 || event.kind >= 30_000)
      assert.isTrue(
        !channel.isArchived || (event.kind === 9002 && tag(event, "archived") === "false"),
        `${about} is in an archived channel`
      )
    this.change(event, channel, role, about)
  }

  private change(event: NostrEvent, channel: KnownChannel, role: string | undefined, about: string): void {
    const target = event.tags.find(([name, value]) => name === "p" && /^[0-9a-f]{64}$/.test(value ?? ""))?.[1] ?? ""
    const author = this.events.get(tag(event, "e") ?? "")?.pubkey
    switch (event.kind) {
      case 9000: {
        const asked = tag(event, "role") ?? "member"
        if (isElevated(asked) && !isElevated(role)) {
          assert.isTrue(channel.isOpen, `${about} grants what it does not have`)
          return
        }
        const current = channel.roles.get(target)
        if (current === undefined || (isElevated(role) && !(current === "owner" && this.owners(channel) === 1)))
          channel.roles.set(target, asked)
        return
      }
      case 9001:
        assert.isTrue(isElevated(role) || target === event.pubkey, `${about} may not remove`)
        channel.roles.delete(target)
        return void assert.isAbove(this.owners(channel), 0, `${about} leaves no owner`)
      case 9002: {
        const isAdministrative = ["name", "about", "archived", "visibility", "ttl"].some(
          (name) => tag(event, name) !== undefined
        )
        assert.isTrue(isAdministrative ? isElevated(role) : role !== undefined, `${about} may not edit`)
        channel.isOpen = tag(event, "visibility") === undefined ? channel.isOpen : tag(event, "visibility") === "open"
        const archived = tag(event, "archived")
        channel.isArchived = archived === undefined ? channel.isArchived : archived === "true"
        return
      }
      case 9005:
        return assert.isTrue(author === event.pubkey || isElevated(role), `${about} may not delete`)
      case 9008:
        assert.strictEqual(role, "owner", `${about} may not delete the channel`)
        channel.isDeleted = true
        return
      case 9021:
        if (role === undefined) channel.roles.set(event.pubkey, "member")
        return
      case 9022:
        channel.roles.delete(event.pubkey)
        return void assert.isAbove(this.owners(channel), 0, `${about} leaves no owner`)
      case 40_003:
        return assert.strictEqual(author, event.pubkey, `${about} edits another's`)
    }
  }

  private owners({ roles }: KnownChannel): number {
    return [...roles.values()].filter((role) => role === "owner").length
  }

  private administered(event: NostrEvent, about: string): void {
    const members = this.members ?? new Map<string, string>()
    const role = members.get(event.pubkey)
    const target = event.tags.find(([name, value]) => name === "p" && /^[0-9a-f]{64}$/.test(value ?? ""))?.[1] ?? ""
    if (event.kind === 28_936) {
      assert.include(["admin", "member"], role, about)
      members.delete(event.pubkey)
      return
    }
    assert.isTrue(event.kind === 9032 ? role === "owner" : isElevated(role), `${about} may not`)
    const asked = tag(event, "role") ?? "member"
    if (event.kind === 9030 && !members.has(target)) members.set(target, asked)
    if (event.kind === 9031) members.delete(target)
    if (event.kind === 9032) members.set(target, asked)
    assert.deepStrictEqual([...members.values()].filter((it) => it === "owner").length, 1, `${about}: one owner`)
  }
}
