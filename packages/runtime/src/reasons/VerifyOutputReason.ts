/**
 * What can go wrong while the output of a condition with a known output is checked.
 */
import { Schema } from "effect"
import { EnvironmentReason } from "../EnvironmentError.ts"

/** The team finished, and the output is not what the condition asks for. */
export class OutputProbeFailed extends Schema.TaggedError<OutputProbeFailed>()("OutputProbeFailed", {
  /** Inside the environment. */
  path: Schema.String,
  expected: Schema.String,
  /** The file's text, shortened; `undefined` when there is no such file. */
  actual: Schema.UndefinedOr(Schema.String)
}) {
  override get message(): string {
    const found = this.actual === undefined ? "it is not there" : `it holds ${JSON.stringify(this.actual)}`
    return `${this.path} must hold ${JSON.stringify(this.expected)}, ${found}: read the transcript to see what the team did`
  }
}

/** Everything that checking the output can meet. */
export const VerifyOutputReason = Schema.Union([OutputProbeFailed, ...EnvironmentReason.members])

/** Everything that checking the output can meet. */
export type VerifyOutputReason = typeof VerifyOutputReason.Type
