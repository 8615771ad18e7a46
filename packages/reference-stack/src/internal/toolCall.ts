import { Result } from "effect"
import type { ModelCall } from "../buzz-agent/ModelApi.ts"

/** A call as a provider sent it: it must have an id, a name, and an object of arguments. */
export const toolCall = (id: string, name: string, args: unknown): Result.Result<ModelCall, string> => {
  if (id === "" || name === "") return Result.fail("a tool call without an id or a name")
  return typeof args === "object" && args !== null && !Array.isArray(args)
    ? Result.succeed({ id, name, args: args as Readonly<Record<string, unknown>> })
    : Result.fail(`the arguments of ${name} are not a JSON object`)
}

/** The same for arguments that come as a text. */
export const toolCallOfText = (id: string, name: string, args: string): Result.Result<ModelCall, string> => {
  try {
    return toolCall(id, name, JSON.parse(args))
  } catch {
    return Result.fail(`the arguments of ${name} are not JSON`)
  }
}
