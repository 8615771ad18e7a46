/**
 * The Chat Completions API of OpenAI and of everybody who is compatible with it (`POST /chat/completions`), not streamed.
 * Pure.
 */
import { Result, Schema } from "effect"
import { toolCallOfText } from "../internal/toolCall.ts"
import type { HistoryItem, ModelApi, ModelReply } from "./ModelApi.ts"

/** One form for all. */
export const openAiChatApi: ModelApi = {
  path: "/chat/completions",
  body: (request) => ({
    model: request.model,
    stream: false,
    max_completion_tokens: request.maxOutputTokens,
    messages: [{ role: "system", content: request.system }, ...request.history.flatMap(messages)],
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map(({ description, inputSchema, name }) => ({
            type: "function",
            function: { name, description, parameters: inputSchema }
          })),
          tool_choice: "auto"
        })
  }),
  reply: (body) =>
    Result.flatMap(
      Result.mapError(decode(body), ({ message }) => `unexpected response: ${message}`),
      ({ choices, usage }) => {
        const [choice] = choices
        if (choice === undefined) return Result.fail("a response without choices")
        const { message } = choice
        return Result.map(
          Result.all(
            (message.tool_calls ?? []).map((call) =>
              toolCallOfText(call.id, call.function.name, call.function.arguments)
            )
          ),
          (calls): ModelReply => ({
            text: message.content ?? message.refusal ?? "",
            calls,
            stop: stopOf(choice.finish_reason),
            usage:
              usage?.prompt_tokens === undefined
                ? undefined
                : {
                    input: usage.prompt_tokens,
                    output: usage.completion_tokens ?? 0,
                    cached: usage.prompt_tokens_details?.cached_tokens ?? 0
                  },
            native: undefined
          })
        )
      }
    )
}

const Response = Schema.Struct({
  choices: Schema.Array(
    Schema.Struct({
      finish_reason: Schema.optionalKey(Schema.NullOr(Schema.String)),
      message: Schema.Struct({
        content: Schema.optionalKey(Schema.NullOr(Schema.String)),
        refusal: Schema.optionalKey(Schema.NullOr(Schema.String)),
        tool_calls: Schema.optionalKey(
          Schema.NullOr(
            Schema.Array(
              Schema.Struct({
                id: Schema.String,
                function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
              })
            )
          )
        )
      })
    })
  ),
  usage: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        prompt_tokens: Schema.optionalKey(Schema.Int),
        completion_tokens: Schema.optionalKey(Schema.Int),
        prompt_tokens_details: Schema.optionalKey(
          Schema.NullOr(Schema.Struct({ cached_tokens: Schema.optionalKey(Schema.NullOr(Schema.Int)) }))
        )
      })
    )
  )
})

const decode = Schema.decodeUnknownResult(Response)

const stopOf = (reason: string | null | undefined): ModelReply["stop"] => {
  switch (reason) {
    case "tool_calls":
      return "tool_use"
    case "length":
      return "max_tokens"
    case "content_filter":
      return "refusal"
    default:
      return "end_turn"
  }
}

/** Built anew from what is known of them: what else a server adds to a message, others refuse to read. */
const messages = (item: HistoryItem): ReadonlyArray<unknown> => {
  switch (item._tag) {
    case "Prompt":
      return [{ role: "user", content: item.text }]
    case "Reply": {
      const { calls, text } = item.reply
      return [
        {
          role: "assistant",
          content: text === "" && calls.length > 0 ? null : text,
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map(({ args, id, name }) => ({
                  id,
                  type: "function",
                  function: { name, arguments: JSON.stringify(args) }
                }))
              })
        }
      ]
    }
    case "Results":
      return item.results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text }))
  }
}
