import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { RelayMessage } from "../src/internal/relayMessage.ts"
import * as Session from "../src/Session.ts"
import * as SessionState from "../src/SessionState.ts"

const received = (message: RelayMessage, now = 0): SessionState.Input => ({ _tag: "Received", now, message })
const auth = received({ _tag: "Auth", challenge: "c" })
const answered: SessionState.Input = { _tag: "ChallengeAnswered", eventId: "auth" }
const ok = (eventId: string, accepted = true, message = "") => received({ _tag: "Ok", eventId, accepted, message })
const closed = (message: string, now = 0) => received({ _tag: "Closed", subscription: "s", message }, now)
const eose = (subscription = "s", now = 0) => received({ _tag: "Eose", subscription }, now)
const opened: SessionState.Input = { _tag: "Opened", now: 0 }
const lost: SessionState.Input = { _tag: "Lost" }
const tick = (now: number): SessionState.Input => ({ _tag: "Ticked", now })
const subscribe: SessionState.Input = { _tag: "Subscribed", now: 0, subscription: "s" }
const publish: SessionState.Input = { _tag: "Published", eventId: "e" }
const authenticated = [opened, auth, answered, ok("auth")]

/** A new connection on which the relay refuses the identity. */
const again = (message: string) => [lost, opened, auth, answered, ok("auth", false, message)]

/** All actions in short, such as `Request s`. */
const play = (...inputs: ReadonlyArray<SessionState.Input>) => {
  let state = SessionState.initial
  const actions: Array<string> = []
  for (const input of inputs) {
    const [next, more] = Session.step(state, input)
    state = next
    for (const action of more) {
      const subject = "subscription" in action ? action.subscription : "eventId" in action ? action.eventId : undefined
      const detail = "detail" in action ? action.detail : undefined
      actions.push([action._tag, subject, detail].filter((part) => part !== undefined).join(" "))
    }
  }
  return { state, actions }
}
const actionsOf = (...inputs: ReadonlyArray<SessionState.Input>) => play(...inputs).actions

describe("the next deadline", () => {
  const deadline = (...inputs: ReadonlyArray<SessionState.Input>) => Session.nextDeadline(play(...inputs).state)

  it("is when a tick first changes something, in every phase", () => {
    assert.strictEqual(deadline(), Number.POSITIVE_INFINITY)
    assert.strictEqual(deadline(opened), SessionState.CHALLENGE_GRACE_MILLIS)
    assert.strictEqual(deadline(opened, auth), SessionState.REPLY_TIMEOUT_MILLIS)
    assert.strictEqual(deadline(...authenticated), SessionState.HEARTBEAT_MILLIS)
    const probed = [...authenticated, tick(SessionState.HEARTBEAT_MILLIS)]
    assert.strictEqual(deadline(...probed), SessionState.HEARTBEAT_MILLIS + SessionState.REPLY_TIMEOUT_MILLIS)
    assert.strictEqual(deadline(subscribe, ...authenticated, closed("error: busy", 100)), 1_100)
  })
})

describe("a request that a busy relay dropped", () => {
  const requests = (...inputs: ReadonlyArray<SessionState.Input>) =>
    actionsOf(subscribe, ...authenticated, ...inputs).filter((action) => action === "Request s").length

  it("is made again, each time later, until it is answered", () => {
    const busy = received({ _tag: "Notice", message: "rate-limited: too many concurrent requests" }, 0)
    assert.strictEqual(requests(busy, tick(9_999)), 1)
    assert.strictEqual(requests(busy, tick(10_000), tick(10_999)), 1)
    assert.strictEqual(requests(busy, tick(10_000), tick(11_000)), 2)
    assert.strictEqual(requests(tick(10_000), tick(11_000), tick(21_000), tick(22_999)), 2)
    assert.strictEqual(requests(tick(10_000), tick(11_000), tick(21_000), tick(23_000)), 3)
    assert.strictEqual(requests(eose("s", 5_000), tick(10_000), tick(11_000), tick(14_000)), 1)
  })
})

describe("authentication", () => {
  it("comes first: nothing is asked or sent before the relay took the identity", () => {
    assert.deepStrictEqual(actionsOf(subscribe, publish, opened, auth, answered), ["AnswerChallenge"])
    assert.deepStrictEqual(actionsOf(subscribe, publish, ...authenticated), [
      "AnswerChallenge",
      "BecomeReady",
      "Request s",
      "Transmit e"
    ])
  })

  it("is left out when no challenge comes within the grace", () => {
    assert.deepStrictEqual(actionsOf(subscribe, opened, tick(1_999)), [])
    assert.deepStrictEqual(actionsOf(subscribe, opened, tick(2_000)), ["BecomeReady", "Request s"])
  })

  it("is made up for when the relay asks late, and what it refused is asked again", () => {
    const late = [
      subscribe,
      opened,
      tick(2_000),
      closed("auth-required: not authenticated"),
      auth,
      answered,
      ok("auth")
    ]
    assert.deepStrictEqual(actionsOf(...late), [
      "BecomeReady",
      "Request s",
      "AnswerChallenge",
      "BecomeReady",
      "Request s"
    ])
    const publishing = [opened, tick(2_000), publish, ok("e", false, "auth-required: x"), auth, answered, ok("auth")]
    assert.deepStrictEqual(actionsOf(...publishing).filter((action) => action === "Transmit e").length, 2)
  })

  it("answers a challenge in the middle of a session without asking everything again", () => {
    const actions = actionsOf(subscribe, ...authenticated, auth, answered, ok("auth"))
    assert.deepStrictEqual(actions.slice(3), ["AnswerChallenge", "BecomeReady"])
    const told = ok("auth", false, "auth-required: already authenticated")
    assert.deepStrictEqual(actionsOf(...authenticated, auth, answered, told).slice(2), [
      "AnswerChallenge",
      "BecomeReady"
    ])
  })

  it("gives up at once when the relay refuses an identity it never took", () => {
    const refused = ok("auth", false, "auth-required: verification failed")
    assert.deepStrictEqual(
      actionsOf(opened, auth, answered, refused).at(-1),
      "GiveUp auth-required: verification failed"
    )
  })

  it("tries again when a relay that took the identity refuses it later, but not for ever and not against a rule", () => {
    const failed = again("auth-required: verification failed")
    assert.match(actionsOf(...authenticated, ...failed).at(-1) ?? "", /^Reconnect/)
    assert.match(actionsOf(...authenticated, ...failed, ...failed).at(-1) ?? "", /^Reconnect/)
    assert.match(actionsOf(...authenticated, ...failed, ...failed, ...failed).at(-1) ?? "", /^GiveUp/)
    assert.match(actionsOf(...authenticated, ...again("restricted: not a relay member")).at(-1) ?? "", /^GiveUp/)
  })

  it("does not wait for ever for the answer", () => {
    assert.deepStrictEqual(actionsOf(opened, auth, answered, tick(9_999)), ["AnswerChallenge"])
    assert.match(actionsOf(opened, auth, answered, tick(10_000)).at(-1) ?? "", /^Reconnect/)
  })
})

describe("subscriptions", () => {
  const subscribed = [subscribe, ...authenticated]

  it("deliver events and the end of stored ones, to those who asked", () => {
    const event = received({ _tag: "Event", subscription: "s", event: {} })
    const stray = received({ _tag: "Event", subscription: "other", event: {} })
    assert.deepStrictEqual(actionsOf(...subscribed, event, stray, eose()).slice(3), [
      "Deliver s",
      "DeliverEndOfStored s"
    ])
  })

  it("are asked again on every connection, without what was dropped meanwhile", () => {
    const second: SessionState.Input = { _tag: "Subscribed", now: 0, subscription: "t" }
    const gone: SessionState.Input = { _tag: "Unsubscribed", subscription: "s" }
    const actions = actionsOf(...subscribed, second, lost, gone, ...authenticated)
    assert.deepStrictEqual(actions.slice(-2), ["BecomeReady", "Request t"])
  })

  it("are closed at the relay only when it knows them", () => {
    const gone: SessionState.Input = { _tag: "Unsubscribed", subscription: "s" }
    assert.deepStrictEqual(actionsOf(subscribe, gone), [])
    assert.deepStrictEqual(actionsOf(...subscribed, gone).at(-1), "Close s")
    const late = received({ _tag: "Event", subscription: "s", event: {} })
    assert.deepStrictEqual(actionsOf(...subscribed, gone, late, closed("")).at(-1), "Close s")
  })

  it("end when a rule of the relay forbids them, once", () => {
    for (const rule of ["restricted: not a channel member", "blocked: you", "invalid: filter", "unsupported: search"]) {
      const actions = actionsOf(...subscribed, closed(rule), tick(60_000), lost, ...authenticated)
      assert.strictEqual(actions[3], `RefuseSubscription s ${rule}`)
      assert.notInclude(actions.slice(4), "Request s")
    }
  })

  it("are asked again, ever more slowly, when the relay closes them for a passing reason", () => {
    const { state, actions } = play(...subscribed, closed("error: internal server error", 0))
    assert.strictEqual(actions.at(-1), "Request s")
    const requests = (...inputs: ReadonlyArray<SessionState.Input>) =>
      actionsOf(...subscribed, ...inputs).filter((action) => action === "Request s").length
    assert.strictEqual(state.subscriptions.get("s")?.state, "Retrying")
    assert.strictEqual(requests(closed("", 0), tick(999)), 1)
    assert.strictEqual(requests(closed("", 0), tick(1_000)), 2)
    assert.strictEqual(requests(closed("", 0), tick(1_000), closed("", 1_000), tick(2_999)), 2)
    assert.strictEqual(requests(closed("", 0), tick(1_000), closed("", 1_000), tick(3_000)), 3)
    assert.strictEqual(requests(closed("", 0), tick(1_000), eose("s", 1_000), closed("", 1_000), tick(2_000)), 3)
  })

  it("make a new connection when the relay forgot who we are", () => {
    assert.match(actionsOf(...subscribed, closed("auth-required: not authenticated")).at(-1) ?? "", /^Reconnect/)
  })
})

describe("publishing", () => {
  it("reports the relay's answer once", () => {
    const actions = actionsOf(...authenticated, publish, ok("e", false, "invalid: x"), ok("e", true))
    assert.deepStrictEqual(actions.slice(2), ["Transmit e", "Acknowledge e"])
  })

  it("sends again on the next connection what was not answered", () => {
    const actions = actionsOf(...authenticated, publish, lost, ...authenticated)
    assert.strictEqual(actions.filter((action) => action === "Transmit e").length, 2)
    const abandoned: SessionState.Input = { _tag: "PublishAbandoned", eventId: "e" }
    const once = actionsOf(...authenticated, publish, lost, abandoned, ...authenticated)
    assert.strictEqual(once.filter((action) => action === "Transmit e").length, 1)
  })
})

describe("heartbeat", () => {
  it("asks a silent relay for a sign of life, and drops one that gives none", () => {
    assert.notInclude(actionsOf(...authenticated, tick(14_999)), "Probe")
    assert.strictEqual(actionsOf(...authenticated, tick(15_000)).at(-1), "Probe")
    assert.strictEqual(actionsOf(...authenticated, tick(15_000), tick(24_999)).at(-1), "Probe")
    assert.match(actionsOf(...authenticated, tick(15_000), tick(25_000)).at(-1) ?? "", /^Reconnect no sign of life/)
  })

  it("takes any frame for a sign of life, even one that is not the protocol", () => {
    const noise: SessionState.Input = { _tag: "Received", now: 16_000, message: undefined }
    assert.strictEqual(actionsOf(...authenticated, tick(15_000), noise, tick(25_000)).at(-1), "Probe")
    const answer = eose(SessionState.PROBE, 16_000)
    assert.strictEqual(actionsOf(...authenticated, tick(15_000), answer).at(-1), `Close ${SessionState.PROBE}`)
  })
})

describe("any sequence", () => {
  const Inputs = Schema.Array(
    Schema.Literals([
      "opened",
      "lost",
      "auth",
      "answered",
      "ok",
      "refused",
      "subscribe",
      "unsubscribe",
      "publish",
      "event",
      "eose",
      "closed",
      "closedByRule",
      "closedForAuth",
      "tick"
    ])
  )
  const inputs: Record<(typeof Inputs.Type)[number], (now: number) => SessionState.Input> = {
    opened: (now) => ({ _tag: "Opened", now }),
    lost: () => lost,
    auth: (now) => received({ _tag: "Auth", challenge: "c" }, now),
    answered: () => answered,
    ok: (now) => received({ _tag: "Ok", eventId: "auth", accepted: true, message: "" }, now),
    refused: (now) => received({ _tag: "Ok", eventId: "auth", accepted: false, message: "auth-required: no" }, now),
    subscribe: () => subscribe,
    unsubscribe: () => ({ _tag: "Unsubscribed", subscription: "s" }),
    publish: () => publish,
    event: (now) => received({ _tag: "Event", subscription: "s", event: {} }, now),
    eose: (now) => eose("s", now),
    closed: (now) => closed("error: busy", now),
    closedByRule: (now) => closed("restricted: no", now),
    closedForAuth: (now) => closed("auth-required: no", now),
    tick: (now) => tick(now)
  }

  it.effect.prop(
    "asks and sends only while ready, and never delivers to a subscription that is not there",
    [Inputs],
    ([names]) =>
      Effect.sync(() => {
        let state = SessionState.initial
        let subscribed = false
        names.forEach((name, index) => {
          if (name === "subscribe") subscribed = true
          if (name === "unsubscribe") subscribed = false
          const [next, actions] = Session.step(state, inputs[name](index * 1_000))
          for (const action of actions) {
            if (action._tag === "Request" || action._tag === "Transmit" || action._tag === "Probe") {
              assert.strictEqual(next.phase._tag, "Ready")
            }
            if (action._tag === "Reconnect" || action._tag === "GiveUp") assert.strictEqual(next.phase._tag, "Offline")
            if (action._tag === "Deliver" || action._tag === "Request") assert.isTrue(subscribed)
            if (action._tag === "RefuseSubscription") subscribed = false
          }
          state = next
        })
        assert.strictEqual(state.subscriptions.has("s"), subscribed)
      }),
    { arbitrary: { runs: 400 } }
  )
})
