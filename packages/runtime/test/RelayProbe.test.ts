import { NodeServices } from "@effect/platform-node"
import { probeRelay } from "@buzz-orchestra/runtime/RelayProbe"
import { type Answer, exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"

const ACCEPTED =
  "HTTP/1.1 101 Switching Protocols\nUpgrade: websocket\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\n"

const probed = (url: string, answer: Answer) =>
  probeRelay(url).pipe(
    Effect.provide(RecordingEnvironment.layer({ answers: [answer] }).pipe(Layer.provide(NodeServices.layer)))
  )

const says =
  (exitCode: number, stdout = "", stderr = ""): Answer =>
  () =>
    exited(exitCode, { stdout, stderr })

describe("probeRelay", () => {
  it.effect("believes only a handshake that answers its own key", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* probed("ws://localhost:3600", says(0, ACCEPTED)), {
        _tag: "RelayAnswered",
        handshake: true
      })
      const other = yield* probed("ws://localhost:3600", says(0, ACCEPTED.replace("s3p", "s3q")))
      assert.deepStrictEqual(other, { _tag: "RelaySilent", detail: "it answered HTTP/1.1 101 Switching Protocols" })
      const refused = yield* probed("ws://localhost:3600", says(0, "HTTP/1.1 404 Not Found\n"))
      assert.deepStrictEqual(refused, { _tag: "RelaySilent", detail: "it answered HTTP/1.1 404 Not Found" })
      assert.deepStrictEqual(yield* probed("ws://localhost:3600", says(0)), {
        _tag: "RelaySilent",
        detail: "it closed the connection"
      })
    })
  )

  it.effect("says what became of a connection", () =>
    Effect.gen(function* () {
      const stderr = "bash: connect: Connection refused\nbash: line 1: /dev/tcp/localhost/3600: Connection refused\n"
      assert.deepStrictEqual(yield* probed("ws://localhost:3600", says(91, "", stderr)), {
        _tag: "RelaySilent",
        detail: "Connection refused"
      })
    })
  )

  it.effect("only connects where there is TLS, and asks nothing without bash", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* probed("wss://relay.example", says(0)), { _tag: "RelayAnswered", handshake: false })
      assert.strictEqual((yield* probed("ws://localhost:3600", says(90)))._tag, "RelayNotProbed")
      assert.strictEqual((yield* probed("http://localhost:3600", says(0, ACCEPTED)))._tag, "RelayNotProbed")
    })
  )
})
