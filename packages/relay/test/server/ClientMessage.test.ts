import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { NostrEvent } from "../../src/NostrEvent.ts"
import * as ClientMessage from "../../src/server/ClientMessage.ts"
import { message, person, sign } from "./support.ts"

const good = sign(person("ada"), message("hello", ["e", "x", "", "reply"]))
const decode = Schema.decodeUnknownResult(NostrEvent)

/** A good event with one field that may be anything. */
const Changed = Schema.Struct({
  field: Schema.Literals(["id", "pubkey", "created_at", "kind", "tags", "content", "sig", "more"]),
  value: Schema.Union([
    Schema.Json,
    Schema.Number,
    Schema.String.pipe(Schema.check(Schema.isPattern(/^[0-9a-fA-F\n]{63,65}$/))),
    Schema.Array(Schema.Array(Schema.String))
  ]),
  isMissing: Schema.Boolean
})

describe("ClientMessage", () => {
  it.prop(
    "reads an event as the schema does, into an object of its own",
    [Changed],
    ([{ field, isMissing, value }]) => {
      const { [field as "id"]: _, ...rest } = good
      const changed = isMissing ? rest : { ...good, [field]: value }
      const [read, expected] = [ClientMessage.parseEvent(changed), decode(changed)]
      assert.deepStrictEqual(Result.getOrUndefined(read), Result.getOrUndefined(expected))
      if (Result.isSuccess(read)) assert.notStrictEqual<unknown>(read.success, changed)
    },
    { arbitrary: { runs: 300 } }
  )

  it.each(["", "{", "{}", "[", '"EVENT"', "null", '["EVENT"', "[]\u0000"])("says of %j that it is no frame", (text) => {
    const read = ClientMessage.parse(text)
    assert.match(Result.isFailure(read) ? read.failure : "", /^JSON parse error: /)
  })
})
