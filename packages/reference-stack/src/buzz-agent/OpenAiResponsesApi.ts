/**
 * The Responses API of OpenAI (`POST /responses`), not streamed. Pure.
 */
import { Result, Schema } from "effect"
import { toolCallOfText } from "../internal/toolCall.ts"
import type { HistoryItem, ModelApi, ModelReply } from "./ModelApi.ts"

/** One form for all. */
export const openAiResponsesApi: ModelApi = {
  path: "/responses",
  body: (request) => ({
    model: request.model,
    instructions: request.system,
    max_output_tokens: request.maxOutputTokens,
    input: request.history.flatMap(items),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map(({ description, inputSchema, name }) => ({
            type: "function",
            name,
            description,
            parameters: inputSchema,
            strict: false
          })),
          tool_choice: "auto"
        })
  }),
  reply: (body) =>
    Result.flatMap(
      Result.mapError(decode(body), ({ message }) => `unexpected response: ${message}`),
      (response) => {
        const { error, output, usage } = response
        if (response.status === "failed") return Result.fail(error?.message ?? "the response has the status failed")
        return Result.map(
          Result.all(
            output.flatMap((item) =>
              item.type === "function_call"
                ? [toolCallOfText(item.call_id ?? "", item.name ?? "", item.arguments ?? "")]
                : []
            )
          ),
          (calls): ModelReply => ({
            text: output
              .flatMap(({ content }) => (content ?? []).flatMap(({ refusal, text }) => text ?? refusal ?? []))
              .join("\n"),
            calls,
            stop: stopOf(response),
            usage:
              usage === undefined || usage === null
                ? undefined
                : {
                    input: usage.input_tokens,
                    output: usage.output_tokens,
                    cached: usage.input_tokens_details?.cached_tokens ?? 0
                  },
            native: (body as { readonly output: unknown }).output
          })
        )
      }
    )
}

const Text = Schema.optionalKey(Schema.String)

const Response = Schema.Struct({
  status: Text,
  error: Schema.optionalKey(Schema.NullOr(Schema.Struct({ message: Schema.String }))),
  incomplete_details: Schema.optionalKey(Schema.NullOr(Schema.Struct({ reason: Text }))),
  output: Schema.Array(
    Schema.Struct({
      type: Schema.String,
      call_id: Text,
      name: Text,
      arguments: Text,
      content: Schema.optionalKey(
        Schema.NullOr(Schema.Array(Schema.Struct({ type: Schema.String, text: Text, refusal: Text })))
      )
    })
  ),
  usage: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        input_tokens: Schema.Int,
        output_tokens: Schema.Int,
        input_tokens_details: Schema.optionalKey(
          Schema.NullOr(Schema.Struct({ cached_tokens: Schema.optionalKey(Schema.Int) }))
        )
      })
    )
  )
})

const decode = Schema.decodeUnknownResult(Response)

const stopOf = ({ incomplete_details, output }: typeof Response.Type): ModelReply["stop"] => {
  if (incomplete_details?.reason === "max_output_tokens") return "max_tokens"
  const isRefused =
    incomplete_details?.reason === "content_filter" ||
    output.some(({ content }) => content?.some(({ type }) => type === "refusal"))
  return isRefused ? "refusal" : "end_turn"
}

/** What the model put out goes back as it came: its calls refer to the reasoning that stands before them. */
const items = (item: HistoryItem): ReadonlyArray<unknown> => {
  switch (item._tag) {
    case "Prompt":
      return [{ role: "user", content: item.text }]
    case "Reply":
      return Array.isArray(item.reply.native) ? item.reply.native : rebuilt(item.reply)
    case "Results":
      return item.results.map(({ id, text }) => ({ type: "function_call_output", call_id: id, output: text }))
  }
}

/** Of a reply that came in another form, before this one was chosen. */
const rebuilt = ({ calls, text }: ModelReply): ReadonlyArray<unknown> => [
  ...(text === "" ? [] : [{ role: "assistant", content: text }]),
  ...calls.map(({ args, id, name }) => ({
    type: "function_call",
    call_id: id,
    name,
    arguments: JSON.stringify(args)
  }))
]
