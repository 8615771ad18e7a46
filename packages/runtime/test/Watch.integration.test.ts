/** The watch's own process over each shell that an image may bring. What holds in a whole environment is in `suites/`. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import type { OpenProcess } from "@buzz-orchestra/runtime/ByteDuplex"
import { openWatch } from "@buzz-orchestra/runtime/Watch"
import type { WatchEvent } from "@buzz-orchestra/runtime/WatchEvent"
import { Arbitrary, Effect, FileSystem, Stream } from "effect"
import { ChildProcessSpawner } from "effect/process"
import { mkfifo } from "./support/mkfifo.ts"
import { between, decode } from "./support/bytes.ts"
import { eventually, openHere, SHELLS, type TestedShell } from "./support/shells.ts"

const sorted = (logs: Readonly<Record<string, string>>) => JSON.stringify(Object.entries(logs).toSorted())

/** A watch of a new folder; its events, and what each log holds by them. */
const watching = Effect.fnUntraced(function* (
  tested: TestedShell,
  wrap: (open: OpenProcess) => OpenProcess = (open) => open
) {
  const fs = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "buzz watch " })
  const open = wrap(openHere(spawner, tested))
  const stream = yield* openWatch({ environment: "this machine", open, lost: Effect.never }, folder)
  const events: Array<WatchEvent> = []
  yield* Stream.runForEach(stream, (event) => Effect.sync(() => void events.push(event))).pipe(
    Effect.ignore,
    Effect.forkScoped
  )
  const logs = () => {
    const all: Record<string, string> = {}
    for (const event of events) {
      if (event._tag === "LogBytes") all[event.file] = `${all[event.file] ?? ""}${decode(event.bytes)}`
    }
    return all
  }
  const awaitLogs = (expected: Readonly<Record<string, string>>) =>
    eventually(Effect.sync(logs), (now) => sorted(now) === sorted(expected)).pipe(
      Effect.catch(() => Effect.sync(() => assert.deepStrictEqual(logs(), expected)))
    )
  const append = (file: string, text: string) => fs.writeFileString(`${folder}/${file}`, text, { flag: "a" })
  return { folder, events, awaitLogs, append }
})

for (const tested of SHELLS) {
  const test = tested.isInstalled ? it.live : it.live.skip
  describe(`watch over ${tested.name}`, tested.options, () => {
    test("keeps each log's place when others come and go", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { append, awaitLogs, folder } = yield* watching(tested)
        yield* append("b.log", "b1")
        yield* append("d.log", "d1")
        yield* awaitLogs({ "b.log": "b1", "d.log": "d1" })
        yield* append("a.log", "a1")
        yield* append("c c.log", "c1")
        yield* append("d.log", "d2")
        yield* awaitLogs({ "b.log": "b1", "d.log": "d1d2", "a.log": "a1", "c c.log": "c1" })
        yield* fs.remove(`${folder}/b.log`)
        yield* append("d.log", "d3")
        yield* awaitLogs({ "b.log": "b1", "d.log": "d1d2d3", "a.log": "a1", "c c.log": "c1" })
        yield* append("b.log", "again")
        yield* awaitLogs({ "b.log": "b1again", "d.log": "d1d2d3", "a.log": "a1", "c c.log": "c1" })
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

    test("is not held up or misled by what is no log", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { append, awaitLogs, events, folder } = yield* watching(tested)
        yield* fs.makeDirectory(`${folder}/folder.log`)
        yield* mkfifo(`${folder}/fifo.log`)
        yield* fs.symlink("nowhere", `${folder}/broken.log`)
        yield* append("-rw-r--r-- 1 0 0 9 x\n-rw-r--r-- 1 0 0 99 Jan 1 00:00 .|forged.log", "odd")
        yield* append("text.txt", "no")
        yield* append("real.log", "yes")
        yield* awaitLogs({ "real.log": "yes" })
        for (const [name, content] of [
          ["a", "garbage"],
          ["b", "-1"],
          ["c", ""],
          ["d", "1 2"]
        ] as const) {
          yield* append(`${name}.pid`, content)
        }
        yield* append("self.pid", `${process.pid}`)
        yield* eventually(
          Effect.sync(() => events.filter(({ _tag }) => _tag === "ProcessSeen")),
          (seen) => seen.length > 0
        )
        const processes = events.filter(({ _tag }) => _tag === "ProcessSeen" || _tag === "ProcessDied")
        assert.deepStrictEqual(
          processes.map((event) => ("name" in event ? [event.name, event.pid] : [])),
          [["self", process.pid]]
        )
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
  })
}

const [any = { name: "sh", argv: ["sh"], isInstalled: true, options: { tags: [] } } satisfies TestedShell] =
  SHELLS.filter(({ isInstalled }) => isInstalled)

describe("watch", () => {
  it.live("needs no more than ls, cat, tail and sleep", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const programs = yield* fs.makeTempDirectoryScoped()
      for (const name of ["sh", "ls", "cat", "tail", "sleep"]) yield* fs.symlink(`/bin/${name}`, `${programs}/${name}`)
      const { append, awaitLogs } = yield* watching(
        any,
        (open) =>
          ([, ...args]) =>
            open(["env", `PATH=${programs}`, "/bin/sh", ...args])
      )
      yield* append("a.log", "first")
      yield* awaitLogs({ "a.log": "first" })
      yield* append("a.log", " second")
      yield* awaitLogs({ "a.log": "first second" })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live.prop(
    "reports exactly what was written, whatever appears, grows, is truncated and goes",
    { steps: Arbitrary.array(Arbitrary.all([between(0, 5), between(0, 9)]), { maxLength: 25 }) },
    ({ steps }) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { append, awaitLogs, folder } = yield* watching(any)
        const written: Record<string, string> = {}
        const there = new Set<string>()
        for (const [index, [file, action]] of steps.entries()) {
          const name = `log ${file}.log`
          if (action < 7) {
            const text = `${index}`.repeat(1 + action)
            written[name] = `${written[name] ?? ""}${text}`
            yield* append(name, text)
            there.add(name)
          } else if (there.has(name)) {
            // What a log had when it was last looked at is lost with it.
            yield* awaitLogs(written)
            yield* action === 7 ? fs.truncate(`${folder}/${name}`, 0) : fs.remove(`${folder}/${name}`)
            if (action > 7) there.delete(name)
            yield* append("round.log", ".")
            written["round.log"] = `${written["round.log"] ?? ""}.`
            yield* awaitLogs(written)
          }
        }
        yield* awaitLogs(written)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    { arbitrary: { runs: 8 }, timeout: 60_000 }
  )
})
