/**
 * What an HTTP provider is asked and what it answers, whoever it is. How one of them writes that down is `AnthropicApi`,
 * `OpenAiChatApi` and `OpenAiResponsesApi`. Pure.
 */
import type { Result } from "effect"
import type { StopReason, Usage } from "./Playbook.ts"

/** A tool as the model may call it. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly inputSchema: unknown
}

/** One call that the model wants made. */
export interface ModelCall {
  readonly id: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** What a call came to. */
export interface ModelCallResult {
  readonly id: string
  readonly text: string
  readonly isError: boolean
}

/** One thing that was said, in order. Results follow the reply with their calls at once, all of them. */
export type HistoryItem =
  | { readonly _tag: "Prompt"; readonly text: string }
  | { readonly _tag: "Reply"; readonly reply: ModelReply }
  | { readonly _tag: "Results"; readonly results: ReadonlyArray<ModelCallResult> }

/** Everything that one request says. */
export interface ModelRequest {
  readonly model: string
  readonly system: string
  readonly history: ReadonlyArray<HistoryItem>
  /** None is no field in the request. */
  readonly tools: ReadonlyArray<ModelTool>
  readonly maxOutputTokens: number
}

/** One response. */
export interface ModelReply {
  readonly text: string
  readonly calls: ReadonlyArray<ModelCall>
  /** `tool_use` only says that calls were meant; calls count whatever this says. */
  readonly stop: StopReason | "tool_use"
  /** Absent when the provider reports none. */
  readonly usage: Required<Usage> | undefined
  /** The response's content as the provider wrote it, for those that want to read it again. */
  readonly native: unknown
}

/** A provider's form. */
export interface ModelApi {
  /** Below the provider's base URL, with its slash. */
  readonly path: string
  /** The body of a request, to be written as JSON. */
  body(request: ModelRequest): Readonly<Record<string, unknown>>
  /** Reads a response of status 2xx. The failure says what is wrong with it. */
  reply(body: unknown): Result.Result<ModelReply, string>
}
