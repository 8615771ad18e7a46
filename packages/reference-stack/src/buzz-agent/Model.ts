/**
 * The model that a configuration names: the form its provider speaks, where, and with which key.
 */
import { Effect, Redacted } from "effect"
import type { HttpPost } from "../HttpPost.ts"
import { TracingLog } from "../TracingLog.ts"
import type { ModelLimits } from "./AgentConfig.ts"
import type { AgentFailed } from "./AgentFailed.ts"
import { anthropicApi } from "./AnthropicApi.ts"
import type { ModelApi, ModelReply, ModelRequest } from "./ModelApi.ts"
import * as ModelClient from "./ModelClient.ts"
import { openAiChatApi } from "./OpenAiChatApi.ts"
import { openAiResponsesApi } from "./OpenAiResponsesApi.ts"
import type { AnthropicConfig, HttpProviderConfig, OpenAiConfig } from "./ProviderConfig.ts"

/** What is left to say once the model is known. */
export type Question = Omit<ModelRequest, "model" | "maxOutputTokens">

export interface Model {
  /** One response; interrupting it drops the connection. */
  ask(question: Question): Effect.Effect<ModelReply, AgentFailed>
}

/** The model of a configuration. */
export const make = Effect.fnUntraced(function* (config: HttpProviderConfig, limits: ModelLimits) {
  const services = yield* Effect.context<HttpPost | TracingLog>()
  const ask = config._tag === "Anthropic" ? askAnthropic(config, limits) : askOpenAi(config, limits)
  const model: Model = {
    ask: (question) =>
      ask({ ...question, model: config.model, maxOutputTokens: limits.maxOutputTokens }).pipe(
        Effect.mapError(ModelClient.agentFailed),
        Effect.provideContext(services)
      )
  }
  return model
})

const askAnthropic = (config: AnthropicConfig, limits: ModelLimits) => (request: ModelRequest) =>
  ModelClient.ask(
    {
      api: anthropicApi,
      baseUrl: config.baseUrl,
      headers: { "x-api-key": Redacted.value(config.apiKey), "anthropic-version": config.apiVersion },
      timeout: limits.timeoutSeconds * 1000,
      isAuthRetried: false
    },
    request
  )

/** `auto` begins with the form that the host is known for, and follows a server that names the other one. */
const askOpenAi = (config: OpenAiConfig, limits: ModelLimits) => {
  let api: ModelApi =
    config.api === "responses" || (config.api === "auto" && isOpenAi(config)) ? openAiResponsesApi : openAiChatApi
  return (request: ModelRequest) => {
    const attempt = Effect.suspend(() =>
      ModelClient.ask(
        {
          api,
          baseUrl: config.baseUrl,
          headers: { authorization: `Bearer ${Redacted.value(config.apiKey)}` },
          timeout: limits.timeoutSeconds * 1000,
          isAuthRetried: true
        },
        request
      )
    )
    return Effect.catchIf(
      attempt,
      ({ detail }) => config.api === "auto" && api === openAiChatApi && NAMES_RESPONSES.test(detail),
      () => {
        api = openAiResponsesApi
        return attempt
      }
    )
  }
}

const NAMES_RESPONSES = /responses api|v1\/responses/i

const isOpenAi = ({ baseUrl }: OpenAiConfig): boolean => /(?:^|\.)openai\.com$/.test(new URL(baseUrl).hostname)
