/**
 * The Messages API of Anthropic (`POST /v1/messages`, version 2023-06-01), not streamed. Pure.
 */
import { Result, Schema } from "effect"
import { toolCall } from "../internal/toolCall.ts"
import type { HistoryItem, ModelApi, ModelReply } from "./ModelApi.ts"

/** One form for all. */
export const anthropicApi: ModelApi = {
  path: "/v1/messages",
  body: (request) => ({
    model: request.model,
    max_tokens: request.maxOutputTokens,
    system: request.system,
    messages: request.history.map(message),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map(({ description, inputSchema, name }) => ({
            name,
            description,
            input_schema: inputSchema
          }))
        })
  }),
  reply: (body) =>
    Result.flatMap(
      Result.mapError(decode(body), ({ message }) => `unexpected response: ${message}`),
      ({ content, stop_reason, usage }) =>
        Result.map(
          Result.all(
            content.flatMap((block) =>
              block.type === "tool_use" ? [toolCall(block.id ?? "", block.name ?? "", block.input)] : []
            )
          ),
          (calls): ModelReply => ({
            text: content.flatMap(({ text, type }) => (type === "text" && text !== undefined ? [text] : [])).join("\n"),
            calls,
            stop: stopOf(stop_reason),
            usage: usage === undefined ? undefined : counted(usage),
            native: (body as { readonly content: unknown }).content
          })
        )
    )
}

const Counter = Schema.optionalKey(Schema.NullOr(Schema.Int))

const Usage = Schema.Struct({
  input_tokens: Counter,
  output_tokens: Counter,
  cache_creation_input_tokens: Counter,
  cache_read_input_tokens: Counter
})

const Response = Schema.Struct({
  content: Schema.Array(
    Schema.Struct({
      type: Schema.String,
      text: Schema.optionalKey(Schema.String),
      id: Schema.optionalKey(Schema.String),
      name: Schema.optionalKey(Schema.String),
      input: Schema.optionalKey(Schema.Unknown)
    })
  ),
  stop_reason: Schema.optionalKey(Schema.NullOr(Schema.String)),
  usage: Schema.optionalKey(Usage)
})

const decode = Schema.decodeUnknownResult(Response)

/** `input_tokens` are only those that no cache was used for; the counters of this program count a cached one, too. */
const counted = (usage: typeof Usage.Type) => {
  const cached = usage.cache_read_input_tokens ?? 0
  return {
    input: (usage.input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0) + cached,
    output: usage.output_tokens ?? 0,
    cached
  }
}

const stopOf = (reason: string | null | undefined): ModelReply["stop"] =>
  reason === "tool_use" || reason === "max_tokens" || reason === "refusal" ? reason : "end_turn"

/** All results of a reply are one message; the blocks of a reply go back as they came. */
const message = (item: HistoryItem): unknown => {
  switch (item._tag) {
    case "Prompt":
      return { role: "user", content: [{ type: "text", text: item.text }] }
    case "Reply":
      return { role: "assistant", content: item.reply.native }
    case "Results":
      return {
        role: "user",
        content: item.results.map(({ id, isError, text }) => ({
          type: "tool_result",
          tool_use_id: id,
          content: [{ type: "text", text }],
          is_error: isError
        }))
      }
  }
}
