/**
 * Bench `redaction`: a log on its way to disk through `LogCapture`, against a plain stream copy of the same bytes, and whether
 * the memory it takes depends on how long the log is.
 */
import { createHash, randomBytes } from "node:crypto"
import { createReadStream, createWriteStream, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect, Redacted, Stream } from "effect"
import * as LogCapture from "../packages/runtime/src/LogCapture.ts"
import * as Redaction from "../packages/runtime/src/Redaction.ts"
import { millis, ratio, spread, table, verdict } from "./Report.ts"
import { median } from "./Statistics.ts"

const ROUNDS = 7
const MEGABYTES = 64
/** Of the logs that memory is compared for. */
const [SHORT, LONG] = [16, 256]
/** A team of six with its user: keys and attestations, and an API key. */
const IDENTITIES = 7
const TARGET = 3
/** Memory of a longer log may differ by what the collector happens to leave. */
const MEMORY_TARGET = 32
const LOOK_BYTES = 8 * 2 ** 20

/** The report. */
export const redaction = Effect.acquireUseRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "bench-redaction-"))),
  (directory) => measure(directory),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
)

const hex = (bytes: number): string => randomBytes(bytes).toString("hex")

const makeSecrets = (): ReadonlyArray<string> => [
  ...Array.from({ length: IDENTITIES }, () => [hex(32), JSON.stringify(["auth", hex(32), "", hex(64)])]).flat(),
  `sk-or-v1-${hex(32)}`
]

/** Lines as agents print them, of which one in a thousand has a secret. */
const writeLog = (file: string, megabytes: number, secrets: ReadonlyArray<string>, isColoured: boolean): void => {
  const paint = (code: number, text: string) => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text)
  const lines = Array.from({ length: 1000 }, (_, index) => {
    const head = `${paint(2, "2026-11-30T06:13:08.123456Z")} ${paint(32, " INFO")} ${paint(2, "acp::stream")}`
    const said = index === 500 ? `the key is ${secrets[0]}` : `turn ${index} of ${createHash("sha256").digest("hex")}`
    return `${head}${paint(2, ":")} ${said}, and then it went on to read /opt/buzz/bin/buzz-acp with some care\n`
  }).join("")
  writeFileSync(file, lines.repeat(Math.ceil((megabytes * 2 ** 20) / lines.length)).slice(0, megabytes * 2 ** 20))
}

/** Milliseconds that went by, and that this process worked: others on the machine slow only the first. */
interface Timed {
  readonly wall: number
  readonly cpu: number
}

const timed = Effect.fnUntraced(function* <E, R>(work: Effect.Effect<unknown, E, R>) {
  const [start, before] = [performance.now(), process.cpuUsage()]
  yield* work
  const { system, user } = process.cpuUsage(before)
  const times: Timed = { wall: performance.now() - start, cpu: (user + system) / 1000 }
  return times
})

const medianOf = (runs: ReadonlyArray<Timed>, which: keyof Timed): number => median(runs.map((run) => run[which]))

const copied = (from: string, to: string) =>
  Effect.promise(() => pipeline(createReadStream(from), createWriteStream(to)))

const captured = (
  from: string,
  to: string,
  redactor: Redaction.Redactor,
  look: (bytes: number) => void = () => undefined
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const capture = yield* LogCapture.open({
        at: () => to,
        redactor,
        warn: (detail) => Effect.die(new Error(detail))
      })
      const pieces: AsyncIterable<Uint8Array> = createReadStream(from)
      const bytes = Stream.fromAsyncIterable(pieces, (cause) => new Error("the log cannot be read", { cause }))
      let offset = 0
      yield* Stream.runForEach(bytes, (piece) => {
        const event = { _tag: "LogBytes" as const, file: "log", offset, bytes: piece }
        offset += piece.length
        look(offset)
        return capture.write(event)
      })
      yield* capture.finish
    })
  )

/** What garbage is left to be collected says nothing, so that it is collected before each look. */
const collectGarbage = (): void => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  collect()
}

/** The most memory that was in use at any of a few moments while a log was written, in MB. */
const peakOf = Effect.fnUntraced(function* (from: string, to: string, redactor: Redaction.Redactor) {
  let most = 0
  let next = 0
  yield* captured(from, to, redactor, (bytes) => {
    if (bytes < next) return
    next = bytes + LOOK_BYTES
    collectGarbage()
    const { arrayBuffers, heapUsed } = process.memoryUsage()
    most = Math.max(most, (arrayBuffers + heapUsed) / 2 ** 20)
  })
  return most
})

const measure = Effect.fnUntraced(function* (directory: string) {
  const secrets = makeSecrets()
  const redactor = Redaction.make(secrets.map((secret) => Redacted.make(secret)))
  const target = join(directory, "copy")
  const rows: Array<ReadonlyArray<string>> = []
  const verdicts: Array<string> = []
  for (const isColoured of [false, true]) {
    const source = join(directory, "log")
    writeLog(source, MEGABYTES, secrets, isColoured)
    const [plain, ours]: [Array<Timed>, Array<Timed>] = [[], []]
    yield* captured(source, target, redactor)
    for (let round = 0; round < ROUNDS; round++) {
      plain.push(yield* timed(copied(source, target)))
      ours.push(yield* timed(captured(source, target, redactor)))
    }
    const name = isColoured ? "with colours" : "without colours"
    const [times, work] = (["wall", "cpu"] as const).map((which) => medianOf(ours, which) / medianOf(plain, which))
    const walls = [plain, ours].map((runs) => spread(runs.map(({ wall }) => wall)))
    rows.push([name, ...walls, ratio(medianOf(ours, "wall"), medianOf(plain, "wall")), `${millis(work ?? 0)} x`])
    verdicts.push(
      verdict(
        (times ?? Infinity) <= TARGET,
        `a log ${name} takes at most ${TARGET} x the time of a copy`,
        `${millis(times ?? 0)} x`
      )
    )
  }
  const peaks: Array<number> = []
  for (const megabytes of [SHORT, LONG]) {
    const source = join(directory, `log-${megabytes}`)
    writeLog(source, megabytes, secrets, true)
    peaks.push(yield* peakOf(source, target, redactor))
  }
  const [short = 0, long = 0] = peaks
  return [
    table(
      [
        `${MEGABYTES} MB, ${redactor.forms.length} forms, ${ROUNDS} runs each`,
        "copy ms",
        "redacted ms",
        "ratio",
        "of processor time"
      ],
      rows
    ),
    "",
    ...verdicts,
    verdict(
      long - short <= MEMORY_TARGET,
      `${LONG} MB take no more memory than ${SHORT} MB, but for ${MEMORY_TARGET} MB`,
      `${millis(long)} and ${millis(short)} MB`
    )
  ].join("\n")
})
