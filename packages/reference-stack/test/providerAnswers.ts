/**
 * A provider to ask: responses with the fields and nesting of the examples in the published references, and a server that
 * gives them.
 */
import { Effect } from "effect"
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"

/** `POST /v1/messages` of Anthropic. */
export const messages = {
  call: {
    id: "msg_01Aq9w938a90dw8q",
    type: "message",
    role: "assistant",
    model: "claude-opus-4-1-20250805",
    content: [
      { type: "text", text: "I'll look." },
      { type: "tool_use", id: "toolu_01", name: "dev__shell", input: { command: "ls" } }
    ],
    stop_reason: "tool_use",
    stop_sequence: null,
    usage: {
      input_tokens: 45,
      cache_creation_input_tokens: 50,
      cache_read_input_tokens: 2000,
      output_tokens: 89,
      service_tier: "standard"
    }
  },
  end: {
    id: "msg_02",
    type: "message",
    role: "assistant",
    model: "claude-opus-4-1-20250805",
    content: [{ type: "text", text: "Done." }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 7 }
  },
  refusal: (type: string, message: string) => ({ type: "error", error: { type, message }, request_id: "req_011" })
} as const

/** `POST /chat/completions` of OpenAI. */
export const chat = {
  call: {
    id: "chatcmpl-abc123",
    object: "chat.completion",
    created: 1_699_896_916,
    model: "gpt-4o-mini",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: null,
          refusal: null,
          tool_calls: [
            {
              id: "call_abc123",
              type: "function",
              function: { name: "dev__shell", arguments: '{\n"command": "ls"\n}' }
            }
          ]
        },
        logprobs: null,
        finish_reason: "tool_calls"
      }
    ],
    usage: {
      prompt_tokens: 82,
      completion_tokens: 17,
      total_tokens: 99,
      prompt_tokens_details: { cached_tokens: 64, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 }
    }
  },
  end: {
    id: "chatcmpl-def456",
    object: "chat.completion",
    created: 1_699_896_917,
    model: "gpt-4o-mini",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "Done.", refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: "stop"
      }
    ],
    usage: { prompt_tokens: 120, completion_tokens: 5, total_tokens: 125 }
  },
  refusal: (message: string) => ({
    error: { message, type: "invalid_request_error", param: null, code: null }
  })
} as const

/** `POST /responses` of OpenAI. */
export const responses = {
  call: {
    id: "resp_67ca09c5",
    object: "response",
    created_at: 1_741_294_021,
    status: "completed",
    error: null,
    incomplete_details: null,
    model: "gpt-5-2025-08-07",
    output: [
      { type: "reasoning", id: "rs_67ca09c5", summary: [], encrypted_content: null },
      {
        type: "function_call",
        id: "fc_67ca09c6",
        call_id: "call_unLAR8",
        name: "dev__shell",
        arguments: '{"command":"ls"}',
        status: "completed"
      }
    ],
    usage: {
      input_tokens: 291,
      input_tokens_details: { cached_tokens: 256 },
      output_tokens: 23,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 314
    }
  },
  end: {
    id: "resp_67ca09c7",
    object: "response",
    created_at: 1_741_294_022,
    status: "completed",
    error: null,
    incomplete_details: null,
    model: "gpt-5-2025-08-07",
    output: [
      {
        type: "message",
        id: "msg_67ca09c7",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "Done.", annotations: [] }]
      }
    ],
    usage: { input_tokens: 320, output_tokens: 6, total_tokens: 326 }
  }
} as const

/** An HTTP server that answers with these bodies in turn, and the requests that it got. */
export const serve = Effect.fnUntraced(function* (bodies: ReadonlyArray<object>) {
  const requests: Array<{
    readonly url: string | undefined
    readonly headers: IncomingHttpHeaders
    readonly body: any
  }> = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const answer = bodies[requests.length]
    requests.push({ url: request.url, headers: request.headers, body: JSON.parse(await text(request)) })
    response.writeHead(answer === undefined ? 500 : 200, { "content-type": "application/json" })
    response.end(JSON.stringify(answer ?? {}))
  }
  const server = createServer((request, response) => void answer(request, response))
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => void server.close().closeAllConnections())
  )
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
})
