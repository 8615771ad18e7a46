/**
 * A relay and everybody who talks to it in a fuzzed life. Whatever the relay lets out or takes in is held against the
 * `RightsOracle`, and whatever it answers against the forms of its protocol.
 */
import { assert } from "@effect/vitest"
import { Result } from "effect"
import * as Identity from "../../../src/Identity.ts"
import * as Nip42 from "../../../src/Nip42.ts"
import * as Nip98 from "../../../src/Nip98.ts"
import type { NostrEvent, Tag } from "../../../src/NostrEvent.ts"
import * as Bridge from "../../../src/server/Bridge.ts"
import * as ClientMessage from "../../../src/server/ClientMessage.ts"
import {
  addMember,
  CHALLENGE,
  CHANNEL,
  createChannel,
  message,
  OTHER_CHANNEL,
  person,
  RELAY_URL,
  RuledRelay,
  sign,
  toySchnorr
} from "../support.ts"
import { Dice, type Step } from "./FuzzStep.ts"
import { filters, KINDS, strayTag, wantedTags, type World } from "./Phrases.ts"
import { RightsOracle } from "./RightsOracle.ts"

const VERBS = new Set(["AUTH", "OK", "EVENT", "EOSE", "CLOSED", "NOTICE", "COUNT"])
const STATUSES = new Set([200, 400, 401, 403])

const owner = person("ada")
const agent = Identity.attested(toySchnorr, person("agent"), owner)
const PEOPLE = [owner, person("bob"), agent, person("eve")]
const WAYS = ["EVENT", "EVENT", "EVENT", "EVENT", "EVENT", "REQ", "REQ", "COUNT", "babble", "return"] as const
const LIES = [
  "none",
  "none",
  "none",
  "none",
  "none",
  "none",
  "none",
  "none",
  "challenge",
  "relay",
  "age",
  "sig",
  "silent"
] as const

/** A connection, and who the relay believes is on it. */
interface Line {
  readonly id: number
  who: Identity.Identity | undefined
}

export class FuzzWorld {
  /** What was said, for whoever looks for a failure. */
  readonly transcript: Array<string> = []
  private readonly relay: RuledRelay
  private readonly oracle: RightsOracle
  private readonly lines: Array<Line> = []
  private readonly damaged: Array<NostrEvent> = []
  private nonce = 0

  constructor(kind: number) {
    const isClosed = new Dice([kind]).rarely(3)
    this.relay = new RuledRelay(isClosed ? { closedTo: owner.pubkey } : {})
    this.oracle = new RightsOracle(this.relay.self.pubkey, isClosed ? owner.pubkey : undefined)
    this.come(0, owner, "none")
    const first = (event: NostrEvent) => this.tell(0, JSON.stringify(["EVENT", event]))
    if (isClosed) first(sign(owner, { kind: 9030, tags: [["p", person("bob").pubkey]] }))
    first(sign(owner, createChannel(CHANNEL)))
    first(sign(owner, createChannel(OTHER_CHANNEL, "open")))
    for (const who of [person("bob"), agent]) first(sign(owner, addMember(who)))
    for (const content of ["needle one", "needle two"]) first(sign(owner, message(content)))
    for (const index of [1, 2, 3]) this.come(index, PEOPLE[index] ?? owner, "none")
    // Somebody who never says who they are.
    this.come(4, owner, "silent")
  }

  take(step: Step): void {
    this.relay.now += 1
    const dice = new Dice(step.draws)
    const way = dice.pick(WAYS)
    const index = dice.pick([0, 0, 1, 1, 2, 2, 3, 3, 4])
    const isHttp = dice.pick([true, false])
    if (way === "return") return this.come(index % 4, dice.pick(PEOPLE), dice.pick(LIES))
    if (way === "babble") return this.babble(index, dice, step)
    if (way === "EVENT") {
      const event = this.event(dice, this.speaker(index, isHttp), step.text)
      return isHttp
        ? this.post(index, "/events", JSON.stringify(event))
        : this.tell(index, JSON.stringify(["EVENT", event]))
    }
    const asked = filters(dice, this.world())
    return isHttp
      ? this.post(index, way === "REQ" ? "/query" : "/count", JSON.stringify(asked))
      : this.tell(index, JSON.stringify([way, dice.pick(["a", "b", "c", ""]), ...asked]))
  }

  private world(): World {
    const ids = [...this.relay.everything(), ...this.damaged].map(({ id }) => id)
    return { ids, pubkeys: PEOPLE.map(({ pubkey }) => pubkey) }
  }

  private speaker(index: number, isHttp: boolean): Identity.Identity {
    return (isHttp ? PEOPLE[index] : this.lines[index]?.who) ?? PEOPLE[index] ?? owner
  }

  private event(dice: Dice, speaker: Identity.Identity, text: string): NostrEvent {
    const author = dice.rarely(12) ? dice.pick(PEOPLE) : speaker
    const kind = dice.pick(KINDS)
    const event = sign(author, {
      kind,
      content: dice.pick(["", "+", "{}", "needle", "offline", text]),
      created_at: this.relay.now - (dice.rarely(20) ? 901 : 0),
      tags: [
        ...wantedTags(kind, dice, this.world()),
        ...(dice.rarely(3) ? dice.some(3, () => strayTag(dice, this.world())) : [])
      ]
    })
    if (!dice.rarely(12)) return event
    const other = dice.pick([
      { id: "0".repeat(64) },
      { sig: "0".repeat(128) },
      { pubkey: dice.pick(PEOPLE).pubkey },
      { content: "other" },
      { tags: [["h", OTHER_CHANNEL]] satisfies ReadonlyArray<Tag> }
    ])
    this.damaged.push({ ...event, ...other })
    return { ...event, ...other }
  }

  private come(index: number, who: Identity.Identity, lie: (typeof LIES)[number]): void {
    const before = this.lines[index]
    if (before !== undefined) this.relay.close(before.id)
    const line: Line = { id: this.relay.open(), who: undefined }
    this.lines[index] = line
    this.listen(line)
    if (lie === "silent") return
    const claim = Nip42.authEvent(toySchnorr, who, {
      relayUrl: lie === "relay" ? "ws://elsewhere" : RELAY_URL,
      challenge: lie === "challenge" ? "d".repeat(64) : CHALLENGE,
      now: this.relay.now - (lie === "age" ? 61 : 0)
    })
    this.transcript.push(`${index} comes as ${who.pubkey.slice(0, 4)}, lie: ${lie}`)
    this.relay.tell(line.id, "AUTH", lie === "sig" ? { ...claim, sig: "0".repeat(128) } : claim)
    const isAdmitted = lie === "none" && this.oracle.mayUse(who.pubkey, attesterOf(who))
    assert.deepStrictEqual(this.relay.received(line.id).at(-1)?.slice(0, 3), ["OK", claim.id, isAdmitted])
    if (isAdmitted) line.who = who
  }

  /** Words of no protocol, or the last thing that was said with a few letters changed. */
  private babble(index: number, dice: Dice, { draws, junk, text }: Step): void {
    const plain = JSON.stringify(junk)
    const last = this.transcript.at(-1)?.replace(/^[^[]*/, "") ?? ""
    const changed = draws.slice(0, 3).reduce((words, cut) => {
      const place = cut % (words.length + 1)
      return words.slice(0, place) + (cut % 3 === 0 ? plain.slice(0, 3) : "") + words.slice(place + (cut % 2))
    }, last)
    const verb = dice.pick(["EVENT", "REQ", "AUTH", "CLOSE", "COUNT", "NOTICE"])
    const said = dice.pick([
      changed,
      changed,
      text,
      plain,
      JSON.stringify([verb, junk, junk]),
      JSON.stringify([verb, "a", junk])
    ])
    const path = dice.pick(["ws", "ws", "/events", "/query", "/count"] as const)
    if (path === "ws") this.tell(index, said)
    else this.post(index, path, said)
  }

  private tell(index: number, text: string): void {
    const line = this.lines[index]
    if (line === undefined) return
    this.transcript.push(`${index} says ${text}`)
    this.relay.tellText(line.id, text)
    const said = ClientMessage.parse(text)
    const frames = this.relay.peek(line.id)
    if (Result.isFailure(said)) assert.strictEqual(frames[0]?.[0], "NOTICE", text)
    else if (said.success._tag === "Event") {
      const { event } = said.success
      const answers = frames.filter(([verb, id]) => verb === "OK" && id === event.id)
      assert.strictEqual(answers.length, 1, "one answer to an event")
      if (answers[0]?.[2] === true && answers[0][3] === "") this.took(event, line.who)
    }
    for (const each of this.lines) this.listen(each)
  }

  private post(index: number, path: Bridge.Path, text: string): void {
    const who = PEOPLE[index]
    this.transcript.push(`${index} posts ${path} ${text}`)
    const body = new TextEncoder().encode(text)
    const signed = {
      url: `http://127.0.0.1:3000${path}`,
      method: "POST",
      body,
      now: this.relay.now,
      nonce: String(++this.nonce)
    }
    const authorization = who === undefined ? undefined : Nip98.authorizationHeader(toySchnorr, who, signed)
    // The attestation that lets the agent in comes with a header that nobody sends here.
    const request = { path, host: undefined, authorization, authTag: undefined, body }
    const { outgoing, response, state } = Bridge.answer(this.relay.state, this.relay.rules, request, this.relay.now)
    this.relay.adopt(state, outgoing)
    const { error, message: words } = response.body as { readonly error?: unknown; readonly message?: unknown }
    assert.isTrue(STATUSES.has(response.status), JSON.stringify(response))
    const isAdmitted = who !== undefined && this.oracle.mayUse(who.pubkey, undefined)
    assert.strictEqual(response.status !== 401 && error !== "relay_membership_required", isAdmitted)
    if (response.status !== 200) assert.isString(error)
    else if (path === "/query") for (const event of response.body as ReadonlyArray<NostrEvent>) this.found(event, who)
    else if (path === "/events" && words === "") this.took(JSON.parse(text) as NostrEvent, who)
    for (const each of this.lines) this.listen(each)
  }

  private took(event: NostrEvent, who: Identity.Identity | undefined): void {
    assert.isDefined(who, "a stranger's event was taken")
    const author = PEOPLE.find(({ pubkey }) => pubkey === event.pubkey)
    const { content, created_at, kind, tags } = event
    assert.deepStrictEqual(author && sign(author, { content, created_at, kind, tags }), event, "forged")
    if (created_at < this.relay.now - 900) assert.include([20_001, 20_002, 24_200], kind)
    this.oracle.took(event, who.pubkey)
    for (const line of this.lines)
      if (line.who !== undefined && !this.oracle.mayUse(line.who.pubkey, attesterOf(line.who))) line.who = undefined
  }

  /** Nobody hears what they may not see, and nobody who is nobody hears anything. */
  private listen({ id, who }: Line): void {
    for (const [verb, , value] of this.relay.received(id)) {
      assert.isTrue(VERBS.has(String(verb)), String(verb))
      if (verb === "EVENT") this.sees(value as NostrEvent, who)
      if (verb === "COUNT") assert.isDefined(who, "a stranger counts")
    }
  }

  private sees(event: NostrEvent, who: Identity.Identity | undefined): void {
    assert.isDefined(who, `a stranger sees ${JSON.stringify(event)}`)
    assert.isTrue(this.oracle.maySee(event, who.pubkey), `${who.pubkey.slice(0, 4)} sees ${JSON.stringify(event)}`)
  }

  /** Presence is made up for the answer, and may be asked about by everybody. */
  private found(event: NostrEvent, who: Identity.Identity | undefined): void {
    if (event.kind !== 20_001 || event.pubkey !== this.relay.self.pubkey) this.sees(event, who)
  }
}

const attesterOf = (who: Identity.Identity): string | undefined =>
  who.authTag === undefined ? undefined : owner.pubkey
