import { anthropicApi } from "@buzz-orchestra/reference-stack/buzz-agent/AnthropicApi"
import type { HistoryItem, ModelApi, ModelReply } from "@buzz-orchestra/reference-stack/buzz-agent/ModelApi"
import { openAiChatApi } from "@buzz-orchestra/reference-stack/buzz-agent/OpenAiChatApi"
import { openAiResponsesApi } from "@buzz-orchestra/reference-stack/buzz-agent/OpenAiResponsesApi"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Answers from "./providerAnswers.ts"

const tool = {
  name: "dev__shell",
  description: "Runs a command.",
  inputSchema: { type: "object", properties: { command: { type: "string" } } }
}

const read = (api: ModelApi, body: unknown): ModelReply => Result.getOrThrow(api.reply(body))

const refusal = (api: ModelApi, body: unknown): string =>
  Result.match(api.reply(body), { onSuccess: () => "accepted", onFailure: String })

/** The request after a call that one's own response asked for: what every provider is strict about. */
const roundTrip = (api: ModelApi, response: unknown) => {
  const reply = read(api, response)
  const history: ReadonlyArray<HistoryItem> = [
    { _tag: "Prompt", text: "go" },
    { _tag: "Reply", reply },
    { _tag: "Results", results: reply.calls.map(({ id }) => ({ id, text: "done", isError: true })) }
  ]
  return api.body({ model: "m", system: "be brief", history, tools: [tool], maxOutputTokens: 100 })
}

const bare = { model: "m", system: "s", history: [], tools: [], maxOutputTokens: 1 }

describe("the Messages API", () => {
  it("reads text, calls, and tokens with those of the cache", () => {
    const reply = read(anthropicApi, Answers.messages.call)
    assert.strictEqual(reply.text, "I'll look.")
    assert.deepStrictEqual(reply.calls, [{ id: "toolu_01", name: "dev__shell", args: { command: "ls" } }])
    assert.deepStrictEqual([reply.stop, reply.usage], ["tool_use", { input: 2095, output: 89, cached: 2000 }])
    const stop = (stop_reason: string | null) => read(anthropicApi, { ...Answers.messages.end, stop_reason }).stop
    assert.deepStrictEqual(["end_turn", "max_tokens", "refusal", "stop_sequence", null].map(stop), [
      "end_turn",
      "max_tokens",
      "refusal",
      "end_turn",
      "end_turn"
    ])
  })

  it("sends blocks back as they came, and all results in one message", () => {
    assert.deepStrictEqual(roundTrip(anthropicApi, Answers.messages.call), {
      model: "m",
      max_tokens: 100,
      system: "be brief",
      messages: [
        { role: "user", content: [{ type: "text", text: "go" }] },
        { role: "assistant", content: Answers.messages.call.content },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "toolu_01",
              content: [{ type: "text", text: "done" }],
              is_error: true
            }
          ]
        }
      ],
      tools: [{ name: "dev__shell", description: "Runs a command.", input_schema: tool.inputSchema }]
    })
    assert.notProperty(anthropicApi.body(bare), "tools")
  })

  it("refuses calls that nobody can make", () => {
    const call = (block: object) =>
      refusal(anthropicApi, { content: [{ type: "tool_use", id: "a", name: "b", input: {}, ...block }] })
    assert.strictEqual(call({}), "accepted")
    assert.include(call({ input: [] }), "the arguments of b are not a JSON object")
    assert.include(call({ id: "" }), "without an id or a name")
    assert.include(refusal(anthropicApi, "<html>"), "Expected")
  })
})

describe("the Chat Completions API", () => {
  it("reads text, calls and tokens", () => {
    const reply = read(openAiChatApi, Answers.chat.call)
    assert.deepStrictEqual(reply.calls, [{ id: "call_abc123", name: "dev__shell", args: { command: "ls" } }])
    assert.deepStrictEqual([reply.text, reply.stop], ["", "tool_use"])
    assert.deepStrictEqual(reply.usage, { input: 82, output: 17, cached: 64 })
    const stop = (finish_reason: string) =>
      read(openAiChatApi, { choices: [{ finish_reason, message: { content: "x" } }] }).stop
    assert.deepStrictEqual(["stop", "length", "content_filter", "new"].map(stop), [
      "end_turn",
      "max_tokens",
      "refusal",
      "end_turn"
    ])
    assert.isUndefined(read(openAiChatApi, { choices: [{ message: { content: "x" } }] }).usage)
  })

  it("sends calls back with their arguments as text, and each result as a message", () => {
    assert.deepStrictEqual(roundTrip(openAiChatApi, Answers.chat.call), {
      model: "m",
      stream: false,
      max_completion_tokens: 100,
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              id: "call_abc123",
              type: "function",
              function: { name: "dev__shell", arguments: '{"command":"ls"}' }
            }
          ]
        },
        { role: "tool", tool_call_id: "call_abc123", content: "done" }
      ],
      tools: [
        {
          type: "function",
          function: { name: "dev__shell", description: "Runs a command.", parameters: tool.inputSchema }
        }
      ],
      tool_choice: "auto"
    })
    assert.notProperty(openAiChatApi.body(bare), "tool_choice")
  })

  it("refuses arguments that are no object, and a response without a choice", () => {
    const call = (text: string) =>
      refusal(openAiChatApi, {
        choices: [{ message: { tool_calls: [{ id: "a", function: { name: "b", arguments: text } }] } }]
      })
    assert.strictEqual(call("{}"), "accepted")
    assert.include(call("{"), "the arguments of b are not JSON")
    assert.include(call("[1]"), "are not a JSON object")
    assert.include(refusal(openAiChatApi, { choices: [] }), "without choices")
  })
})

describe("the Responses API", () => {
  it("reads text, calls and tokens", () => {
    const reply = read(openAiResponsesApi, Answers.responses.call)
    assert.deepStrictEqual(reply.calls, [{ id: "call_unLAR8", name: "dev__shell", args: { command: "ls" } }])
    assert.deepStrictEqual(reply.usage, { input: 291, output: 23, cached: 256 })
    assert.strictEqual(read(openAiResponsesApi, Answers.responses.end).text, "Done.")
    const stop = (more: object) => read(openAiResponsesApi, { ...Answers.responses.end, ...more }).stop
    assert.strictEqual(stop({}), "end_turn")
    assert.strictEqual(
      stop({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }),
      "max_tokens"
    )
    const refused = [{ type: "message", content: [{ type: "refusal", refusal: "No." }] }]
    assert.strictEqual(stop({ output: refused }), "refusal")
    const failed = { status: "failed", error: { code: "server_error", message: "broken" }, output: [] }
    assert.strictEqual(refusal(openAiResponsesApi, failed), "broken")
  })

  it("sends back what was put out, reasoning included, and each result under its call", () => {
    assert.deepStrictEqual(roundTrip(openAiResponsesApi, Answers.responses.call), {
      model: "m",
      instructions: "be brief",
      max_output_tokens: 100,
      input: [
        { role: "user", content: "go" },
        ...Answers.responses.call.output,
        { type: "function_call_output", call_id: "call_unLAR8", output: "done" }
      ],
      tools: [
        {
          type: "function",
          name: "dev__shell",
          description: "Runs a command.",
          parameters: tool.inputSchema,
          strict: false
        }
      ],
      tool_choice: "auto"
    })
  })

  it("writes replies of another form in its own", () => {
    const reply = read(openAiChatApi, Answers.chat.call)
    const body = openAiResponsesApi.body({ ...bare, history: [{ _tag: "Reply", reply }] })
    assert.deepStrictEqual(body["input"], [
      { type: "function_call", call_id: "call_abc123", name: "dev__shell", arguments: '{"command":"ls"}' }
    ])
  })
})
