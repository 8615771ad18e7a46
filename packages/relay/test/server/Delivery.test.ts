import { assert, describe, it } from "@effect/vitest"
import { HashMap } from "effect"
import * as Channel from "../../src/server/Channel.ts"
import * as Delivery from "../../src/server/Delivery.ts"
import { addMember, CHANNEL, createChannel, message, person, RuledRelay, sign } from "./support.ts"

const ada = person("ada")
const bob = person("bob")
const eve = person("eve")

describe("Delivery", () => {
  it("looks at membership at every delivery, also for a subscription that is still there", () => {
    const relay = new RuledRelay()
    relay.must(ada, createChannel(CHANNEL))
    relay.must(ada, addMember(bob))
    const reader = relay.connect(bob)
    relay.tell(reader, "REQ", "s", { kinds: [9], "#h": [CHANNEL] })
    const stored = { event: sign(ada, message("secret")), channelId: CHANNEL, thread: undefined }
    assert.deepStrictEqual(
      Delivery.deliver(relay.state, stored).map(({ to }) => to),
      [reader]
    )
    const without = (channel: Channel.Channel) => Channel.withoutMember(channel, bob.pubkey)
    const removed = { ...relay.state, channels: HashMap.modify(relay.state.channels, CHANNEL, without) }
    assert.deepStrictEqual(Delivery.deliver(removed, stored), [])
  })

  it("keeps what is for one reader's eyes from others, even when they know its id", () => {
    const relay = new RuledRelay()
    const frame = sign(ada, { kind: 24_200, tags: [["p", bob.pubkey]], content: "sealed" })
    const [recipient, other] = [relay.connect(bob), relay.connect(eve)]
    for (const reader of [recipient, other]) relay.tell(reader, "REQ", "s", { ids: [frame.id] })
    relay.received(recipient)
    assert.deepStrictEqual(relay.received(other), [["EOSE", "s"]])
    relay.submit(frame, { via: "ws" })
    assert.deepStrictEqual(relay.received(recipient), [["EVENT", "s", frame]])
    assert.deepStrictEqual(relay.received(other), [])
  })
})
