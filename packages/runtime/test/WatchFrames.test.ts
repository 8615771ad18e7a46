import { assert, describe, it } from "@effect/vitest"
import type { WatchEvent } from "@buzz-orchestra/runtime/WatchEvent"
import { Arbitrary } from "effect"
import { makeMarker } from "../src/internal/markedFrames.ts"
import { feedWatch, initialWatch } from "../src/internal/watchFrames.ts"
import { between, bytesOf, cut, cuts, decode, encode, join } from "./support/bytes.ts"

const marker = makeMarker("abcd")

const run = (chunks: ReadonlyArray<Uint8Array>): ReadonlyArray<WatchEvent> => {
  let state = initialWatch(marker)
  return chunks.flatMap((chunk) => {
    const [next, events] = feedWatch(state, chunk)
    state = next
    return events
  })
}

const events = (text: string) => run([encode(text.replaceAll("@", marker.text))])

/** Neighbouring bytes of one file as one event, bytes as numbers. */
const normal = (all: ReadonlyArray<WatchEvent>) => {
  const out: Array<unknown> = []
  let log: { file: string; offset: number; bytes: Array<number> } | undefined
  for (const event of all) {
    if (event._tag !== "LogBytes") {
      log = undefined
      out.push(event)
    } else if (log !== undefined && log.file === event.file && log.offset + log.bytes.length === event.offset) {
      log.bytes.push(...event.bytes)
    } else {
      log = { file: event.file, offset: event.offset, bytes: [...event.bytes] }
      out.push(log)
    }
  }
  return out
}

const logFrame = Arbitrary.map(
  Arbitrary.all([bytesOf([1, 0x61, 0x62, 0x0a, 0x20], 30), between(0, 9), between(0, 500)]),
  ([data, file, offset]) => join([encode(`${marker.text}L ${offset} ${data.length} agent ${file}.log\n`), data])
)

const processFrame = Arbitrary.map(
  Arbitrary.all([between(1, 3), between(0, 4), between(1, 2), between(0, 2)]),
  ([pid, state, start, name]) => encode(`${marker.text}P ${pid} ${"RSTZ-"[state]} ${start} agent-${name}\n`)
)

const roundFrame = Arbitrary.map(between(1, 99), (round) => encode(`${marker.text}R ${round}\n`))

const stream = Arbitrary.map(
  Arbitrary.array(
    Arbitrary.flatMap(between(0, 2), (kind) => [logFrame, processFrame, roundFrame][kind] ?? roundFrame),
    { maxLength: 10 }
  ),
  join
)

describe("watchFrames", () => {
  it.prop("decodes the same events however the stream is cut", { bytes: stream, sizes: cuts }, ({ bytes, sizes }) => {
    assert.deepStrictEqual(normal(run(cut(bytes, sizes))), normal(run([bytes])))
  })

  it("reports a process, then its change, then its death once", () => {
    assert.deepStrictEqual(events("@P 7 S 100 lead-1\n@P 7 T 100 lead-1\n@P 7 Z 100 lead-1\n@P 7 - - lead-1\n"), [
      { _tag: "ProcessSeen", name: "lead-1", pid: 7, state: "S", startTime: "100" },
      { _tag: "ProcessSeen", name: "lead-1", pid: 7, state: "T", startTime: "100" },
      { _tag: "ProcessDied", name: "lead-1", pid: 7 }
    ])
  })

  it("takes another start time under the same pid for the death of the process that was launched", () => {
    assert.deepStrictEqual(events("@P 7 S 100 lead-1\n@P 7 S 222 lead-1\n@P 7 S 333 lead-1\n").slice(1), [
      { _tag: "ProcessDied", name: "lead-1", pid: 7 }
    ])
  })

  it("follows a new process under the same name", () => {
    assert.deepStrictEqual(
      events("@P 7 - - lead-1\n@P 8 R 5 lead-1\n").map((event) => event._tag),
      ["ProcessDied", "ProcessSeen"]
    )
  })

  it("reads a log that was truncated meanwhile up to the next frame", () => {
    const [log, round] = events("@L 10 100 a.log\nshort@R 1\n")
    assert.deepStrictEqual(log?._tag === "LogBytes" && [log.offset, decode(log.bytes)], [10, "short"])
    assert.deepStrictEqual(round, { _tag: "RoundCompleted", round: 1 })
  })

  it("drops bytes beyond the announced length, which come again at their offset", () => {
    const logs = events("@L 0 3 a.log\nabcdef@R 1\n@L 3 3 a.log\ndef@R 2\n").filter((e) => e._tag === "LogBytes")
    assert.strictEqual(logs.map(({ bytes, offset }) => `${offset}:${decode(bytes)}`).join(" "), "0:abc 3:def")
  })

  it("keeps names with spaces", () => {
    const [log, seen] = events("@L 0 1 a b  c.log\nx@P 1 S 2 d e\n")
    assert.strictEqual(log?._tag === "LogBytes" && log.file, "a b  c.log")
    assert.strictEqual(seen?._tag === "ProcessSeen" && seen.name, "d e")
  })
})
