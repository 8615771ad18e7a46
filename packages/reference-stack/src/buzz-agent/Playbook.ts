/**
 * The file that the `scripted` provider plays: what each agent says and does, turn by turn. Pure; the README shows one.
 */
import { Result, Schema } from "effect"
import { Yaml } from "effect/encoding"

/** Longest pause of one step, in milliseconds. */
const MAX_WAIT_MILLIS = 600_000

const Natural = Schema.Int.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(0)))
const Text = Schema.String.pipe(Schema.check(Schema.isMinLength(1)))
/** A step that needs no value is written `crash: true`. */
const Flag = Schema.Literal(true)

const ShellStep = Schema.Struct({
  command: Text,
  workdir: Schema.optionalKey(Text),
  timeout_ms: Schema.optionalKey(Natural)
})
const ReadFileStep = Schema.Struct({
  path: Text,
  offset: Schema.optionalKey(Natural),
  limit: Schema.optionalKey(Natural)
})
const StrReplaceStep = Schema.Struct({
  path: Text,
  old_str: Text,
  new_str: Schema.String,
  replace_all: Schema.optionalKey(Schema.Boolean)
})
const TodoStep = Schema.Array(Schema.Struct({ text: Text, done: Schema.optionalKey(Schema.Boolean) }))
const Usage = Schema.Struct({ input: Natural, output: Natural, cached: Schema.optionalKey(Natural) })
const StopReason = Schema.Literals(["end_turn", "max_tokens", "refusal", "max_turn_requests"])

const StepFields = {
  /** Text of the model. It reaches the log, not the channel. */
  say: Schema.optionalKey(Text),
  /** Calls the `shell` tool. */
  shell: Schema.optionalKey(Schema.Union([Text, ShellStep])),
  /** Calls the `read_file` tool. */
  read_file: Schema.optionalKey(Schema.Union([Text, ReadFileStep])),
  /** Calls the `str_replace` tool. */
  str_replace: Schema.optionalKey(StrReplaceStep),
  /** Calls the `todo` tool. */
  todo: Schema.optionalKey(TodoStep),
  /** The last tool result must contain this text, else the turn fails as a provider error does. */
  expect: Schema.optionalKey(Text),
  /** What the response that this step stands in cost; without it the cost follows from the length of the texts. */
  usage: Schema.optionalKey(Usage),
  /** Thinks this long. */
  wait_ms: Schema.optionalKey(
    Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: MAX_WAIT_MILLIS })))
  ),
  /** Ends the turn with this reason. */
  stop: Schema.optionalKey(StopReason),
  /** The provider fails with this message; the client decides whether to try again. */
  error: Schema.optionalKey(Text),
  /** The agent process dies without answering. */
  crash: Schema.optionalKey(Flag),
  /** Never answers: `until_cancelled` still answers a cancel, `for_ever` does not. */
  hang: Schema.optionalKey(Schema.Literals(["until_cancelled", "for_ever"])),
  /** From here on SIGTERM does not end the agent process. */
  ignore_term: Schema.optionalKey(Flag)
}

const Step = Schema.Struct(StepFields).pipe(
  Schema.check(
    Schema.makeFilter((step) => Object.keys(step).length === 1 || "a step has exactly one key", {
      expected: "a step with exactly one key"
    })
  )
)

const Turn = Schema.Struct({
  /** The prompt must contain this text (each of these texts). */
  when: Schema.optionalKey(Schema.Union([Text, Schema.Array(Text)])),
  /** Skipped while a file of this path exists, so that a fault can happen once although the process was replaced. */
  unless_file: Schema.optionalKey(Text),
  /** Stays available after it was played. */
  repeat: Schema.optionalKey(Schema.Boolean),
  steps: Schema.Array(Step)
})

const PlaybookFile = Schema.Struct({ agents: Schema.Record(Schema.String, Schema.Array(Turn)) })

/** One thing that a scripted model does. Exactly one field is present. */
export type Step = typeof Step.Type
/** The steps that call the tool of their name; each ends the response that it stands in. */
export const TOOL_STEPS = ["shell", "read_file", "str_replace", "todo"] as const
/** What a scripted model does when it is woken. */
export type Turn = typeof Turn.Type
/** Token counts of one response. */
export type Usage = typeof Usage.Type
/** How a turn may end. */
export type StopReason = typeof StopReason.Type
/** Turns by agent name. */
export type Playbook = typeof PlaybookFile.Type

/** Reads a playbook from YAML (or JSON, which is YAML). The failure is a sentence with the place. */
export const parse = (text: string): Result.Result<Playbook, string> =>
  Result.try({
    try: () => Yaml.parse(text),
    catch: (cause) => (cause instanceof Error ? cause.message : String(cause))
  }).pipe(
    Result.flatMap((value) =>
      Result.mapError(
        Schema.decodeUnknownResult(PlaybookFile)(value, { onExcessProperty: "error", errors: "all" }),
        (error) => error.message
      )
    )
  )
