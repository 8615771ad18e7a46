/**
 * One POST after the other over `node:http`. `fetch` would do the same, but loading it costs more than everything else that
 * `buzz` loads, and `buzz` is started for every message.
 */
import { Context, Effect, Layer, Schema } from "effect"
import * as Http from "node:http"

/** No answer: no connection, a broken one, or an answer that was too long. */
export class HttpPostFailed extends Schema.TaggedError<HttpPostFailed>()("HttpPostFailed", {
  detail: Schema.String,
  isTooLong: Schema.Boolean
}) {
  override get message(): string {
    return this.detail
  }
}

/** What to send. */
export interface PostRequest {
  /** `http://` or `https://`. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON. */
  readonly body: string
  /** A longer answer is not read; the default is no limit. */
  readonly maxBytes?: number
}

/** What came back, whatever its status. */
export interface PostAnswer {
  readonly status: number
  readonly body: string
}

export class HttpPost extends Context.Service<
  HttpPost,
  {
    /** Interrupting it drops the connection. */
    send(request: PostRequest): Effect.Effect<PostAnswer, HttpPostFailed>
  }
>()("@buzz-orchestra/reference-stack/HttpPost") {
  static readonly layer: Layer.Layer<HttpPost> = Layer.succeed(
    HttpPost,
    HttpPost.of({
      send: (request) =>
        request.url.startsWith("https:")
          ? // Most relays of a test are not secured, and TLS takes its time to load, too.
            Effect.flatMap(
              Effect.promise(() => import("node:https")),
              (Https) => sendBy(Https.request, request)
            )
          : sendBy(Http.request, request)
    })
  )
}

type Open = (
  url: string,
  options: Http.RequestOptions,
  onResponse: (response: Http.IncomingMessage) => void
) => Http.ClientRequest

const sendBy = (open: Open, { body, headers, maxBytes = Number.POSITIVE_INFINITY, url }: PostRequest) =>
  Effect.callback<PostAnswer, HttpPostFailed>((resume) => {
    const fail = (cause: NodeJS.ErrnoException) =>
      resume(
        Effect.fail(new HttpPostFailed({ detail: cause.message || (cause.code ?? "no connection"), isTooLong: false }))
      )
    const bytes = Buffer.from(body)
    const request = open(
      url,
      // A connection that was kept may be closed at the other end just when it is used again.
      {
        method: "POST",
        agent: false,
        headers: { ...headers, "content-type": "application/json", "content-length": bytes.length }
      },
      (response) => {
        const chunks: Array<Buffer> = []
        let size = 0
        response.on("data", (chunk: Buffer) => {
          size += chunk.length
          chunks.push(chunk)
          if (size <= maxBytes) return
          resume(Effect.fail(new HttpPostFailed({ detail: `the answer exceeds ${maxBytes} bytes`, isTooLong: true })))
          request.destroy()
        })
        response.on("error", fail)
        response.on("end", () =>
          resume(Effect.succeed({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") }))
        )
      }
    )
    request.on("error", fail)
    request.end(bytes)
    return Effect.sync(() => void request.destroy())
  })
