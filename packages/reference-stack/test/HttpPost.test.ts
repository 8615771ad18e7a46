import { HttpPost } from "@buzz-orchestra/reference-stack/HttpPost"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"

/** The URL of a server on loopback; the scope owns it and its connections. */
const serve = Effect.fnUntraced(function* (listener: RequestListener) {
  const server = createServer(listener)
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => void server.close().closeAllConnections())
  )
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/path?q`
})

layer(HttpPost.layer, { excludeTestServices: true })("HttpPost", (it) => {
  it.effect("sends a body with its headers, and returns what came back whatever its status", () =>
    Effect.gen(function* () {
      const url = yield* serve((request, response) => {
        const { "content-length": length, "content-type": type, "x-mine": mine } = request.headers
        void text(request).then((body) =>
          response.writeHead(418).end(JSON.stringify([request.method, request.url, body, length, type, mine]))
        )
      })
      const http = yield* HttpPost
      const answer = yield* http.send({ url, headers: { "x-mine": "yes" }, body: '"ü"' })
      assert.strictEqual(answer.status, 418)
      assert.deepStrictEqual(JSON.parse(answer.body), ["POST", "/path?q", '"ü"', "4", "application/json", "yes"])
    })
  )

  it.effect("fails when nobody listens, when the connection breaks, and when the answer is too long", () =>
    Effect.gen(function* () {
      const http = yield* HttpPost
      const send = (url: string, maxBytes?: number) =>
        Effect.flip(http.send({ url, headers: {}, body: "{}", ...(maxBytes === undefined ? {} : { maxBytes }) }))
      assert.include((yield* send("http://127.0.0.1:9/")).detail, "ECONNREFUSED")
      assert.include((yield* send("https://127.0.0.1:9/")).detail, "ECONNREFUSED")
      const breaking = yield* serve((_, response) => {
        response.write("half")
        setImmediate(() => response.destroy())
      })
      assert.isFalse((yield* send(breaking)).isTooLong)
      const long = yield* serve((_, response) => void response.end("x".repeat(101)))
      const failure = yield* send(long, 100)
      assert.deepStrictEqual([failure.detail, failure.isTooLong], ["the answer exceeds 100 bytes", true])
    })
  )

  it.effect("drops the connection when it is interrupted", () =>
    Effect.gen(function* () {
      const http = yield* HttpPost
      const arrived = yield* Deferred.make<void>()
      const dropped = yield* Deferred.make<void>()
      const url = yield* serve((request) => {
        Deferred.doneUnsafe(arrived, Effect.void)
        request.socket.on("close", () => Deferred.doneUnsafe(dropped, Effect.void))
      })
      const sending = yield* Effect.forkChild(http.send({ url, headers: {}, body: "{}" }))
      yield* Effect.timeout(Deferred.await(arrived), "10 seconds")
      yield* Fiber.interrupt(sending)
      yield* Effect.timeout(Deferred.await(dropped), "10 seconds")
    })
  )
})
