/** The watch of an environment. */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { decode } from "../support/bytes.ts"
import { SOAKING } from "../matrix/support/Cases.ts"
import { type EnvironmentIt, follow, output, scratch } from "../support/environment.ts"
import { eventually } from "../support/shells.ts"

export const watchSuite = (it: EnvironmentIt): void => {
  describe("watch", () => {
    it.effect("reports each byte of each log once, in order, from files that appear when they like", () =>
      Effect.gen(function* () {
        const place = yield* scratch
        const watch = yield* follow(`${place}/logs`)
        yield* watch.caughtUp
        yield* output(`mkdir ${place}/logs; printf one >${place}/logs/a.stdout.log; echo not >${place}/logs/a.txt`)
        yield* watch.awaitLog("a.stdout.log", (text) => text === "one")
        const append = `cd ${place}/logs; i=0; while [ $i -lt 300 ]; do echo "line $i" >>a.stdout.log; echo "err $i" >>'b b.log'; i=$((i + 1)); done`
        yield* output(append)
        const lines = Array.from({ length: 300 }, (_, n) => n)
        yield* watch.awaitLog("b b.log", (text) => text.endsWith("err 299\n"))
        yield* watch.caughtUp
        assert.strictEqual(
          decode(watch.logs.get("a.stdout.log") ?? new Uint8Array(0)),
          `one${lines.map((n) => `line ${n}\n`).join("")}`
        )
        assert.strictEqual(
          decode(watch.logs.get("b b.log") ?? new Uint8Array(0)),
          lines.map((n) => `err ${n}\n`).join("")
        )
        assert.strictEqual(
          watch.received(),
          [...watch.logs.values()].reduce((sum, { length }) => sum + length, 0)
        )
        assert.deepStrictEqual([...watch.logs.keys()].toSorted(), ["a.stdout.log", "b b.log"])
      })
    )

    it.effect("reads a truncated log again from its beginning", () =>
      Effect.gen(function* () {
        const place = yield* scratch
        const watch = yield* follow(place)
        yield* output(`echo something long >${place}/a.log`)
        yield* watch.awaitLog("a.log", (text) => text === "something long\n")
        yield* output(`echo new >${place}/a.log`)
        yield* watch.awaitLog("a.log", (text) => text === "new\n")
      })
    )

    it.effect("follows a process from its first sight to its death", () =>
      Effect.gen(function* () {
        const place = yield* scratch
        const watch = yield* follow(place)
        const pid = Number(
          yield* output(`sleep 1000 >/dev/null 2>&1 & echo $! >${place}/lead-1.pid; cat ${place}/lead-1.pid`)
        )
        const seen = yield* watch.awaitEvent((event) => event._tag === "ProcessSeen" && event.pid === pid)
        const start = (yield* output(`cat /proc/${pid}/stat`)).replace(/^.*\) /, "").split(" ")[19]
        assert.deepStrictEqual<unknown>(seen?._tag === "ProcessSeen" && [seen.name, seen.startTime], ["lead-1", start])
        yield* output(`kill -STOP ${pid}`)
        yield* watch.awaitEvent((event) => event._tag === "ProcessSeen" && event.state === "T")
        // Its file may go; the process stays under watch.
        yield* output(`rm ${place}/lead-1.pid`)
        yield* watch.caughtUp
        yield* output(`kill -KILL ${pid}`)
        yield* watch.awaitEvent((event) => event._tag === "ProcessDied" && event.pid === pid)
        yield* watch.caughtUp
        assert.strictEqual(watch.events.filter(({ _tag }) => _tag === "ProcessDied").length, 1)
      })
    )

    it.effect("takes a zombie for dead, and a pid that nobody has", () =>
      Effect.gen(function* () {
        const place = yield* scratch
        const watch = yield* follow(place)
        // The parent becomes a program that never waits.
        yield* output(
          `cd ${place}; sh -c 'sleep 0.1 & echo $! >zombie.pid; echo $$ >parent.pid; exec sleep 1000' >/dev/null 2>&1 & :`
        )
        yield* watch.awaitEvent((event) => event._tag === "ProcessDied" && event.name === "zombie")
        assert.match(yield* output(`cat /proc/$(cat ${place}/zombie.pid)/stat`), /\) Z /)
        yield* output(`echo 4194303 >${place}/nobody.pid; echo garbage >${place}/garbage.pid; : >${place}/empty.pid`)
        yield* watch.awaitEvent((event) => event._tag === "ProcessDied" && event.name === "nobody")
        yield* output(`kill $(cat ${place}/parent.pid)`)
        yield* watch.awaitEvent((event) => event._tag === "ProcessDied" && event.name === "parent")
      })
    )

    it.effect("ends inside with its scope", () =>
      Effect.gen(function* () {
        const place = yield* scratch
        const watchers = output(
          `for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/cmdline | grep -x '${place}' ; done 2>/dev/null | wc -l`
        )
        yield* Effect.scoped(
          Effect.gen(function* () {
            const watch = yield* follow(place)
            yield* watch.caughtUp
            assert.isAbove(Number(yield* watchers), 0)
          })
        )
        yield* eventually(watchers, (count) => Number(count) === 0)
      })
    )
  })
}

const FLOOD_MEBIBYTES = SOAKING ? 100 : 32
const FLOOD = FLOOD_MEBIBYTES * 1024 * 1024

export const floodSuite = (it: EnvironmentIt): void => {
  describe("watch", () => {
    it.effect(
      "streams a flood at its reader's pace, in bounded memory, and does not make other logs wait for the end of it",
      () =>
        Effect.gen(function* () {
          const place = yield* scratch
          const gate = yield* Deferred.make<void>()
          const watch = yield* follow(place, (event) =>
            event._tag === "LogBytes" ? Deferred.await(gate) : Effect.void
          )
          yield* output(`cd ${place}; head -c ${FLOOD} /dev/zero >>flood.txt`)
          const before = process.memoryUsage().external
          yield* output(`cd ${place}; mv flood.txt flood.log; echo hello >quiet.log`)
          yield* eventually(Effect.sync(watch.seen), (count) => count > 0)
          // Nobody reads. As many commands as this would have given the whole flood time to arrive.
          let held = 0
          for (let look = 0; look < 3 * FLOOD_MEBIBYTES; look++) {
            yield* output("true")
            held = Math.max(held, process.memoryUsage().external - before)
          }
          assert.isBelow(held, FLOOD / 4)
          yield* Deferred.succeed(gate, undefined)
          yield* watch.awaitLog("quiet.log", (text) => text === "hello\n")
          assert.isBelow(watch.firstSeen.get("quiet.log") ?? FLOOD, FLOOD / 2, "the quiet log had to wait")
          yield* eventually(Effect.sync(watch.received), (count) => count === FLOOD + "hello\n".length, "60 seconds")
          yield* output(`rm ${place}/flood.log`)
        }),
      90_000
    )
  })
}
