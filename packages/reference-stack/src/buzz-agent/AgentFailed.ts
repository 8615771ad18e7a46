/**
 * Why a request of the client fails, with the JSON-RPC code that the real agent answers.
 */
import { Schema } from "effect"

/**
 * The provider, an MCP server or something else failed (-32000), the provider refused the key (-32001), or the request made
 * no sense (-32602).
 */
export class AgentFailed extends Schema.TaggedError<AgentFailed>()("AgentFailed", {
  code: Schema.Literals([-32_000, -32_001, -32_602]),
  detail: Schema.String
}) {
  override get message(): string {
    return this.detail
  }
}

/** The model's answer could not be had. */
export const llm = (detail: string): AgentFailed => new AgentFailed({ code: -32_000, detail: `llm: ${detail}` })

/** The provider does not know us. */
export const llmAuth = (detail: string): AgentFailed => new AgentFailed({ code: -32_001, detail: `llm: ${detail}` })

/** An MCP server could not be started or called. */
export const mcp = (detail: string): AgentFailed => new AgentFailed({ code: -32_000, detail: `mcp: ${detail}` })

/** The request does not fit. */
export const invalidParams = (detail: string): AgentFailed => new AgentFailed({ code: -32_602, detail })
