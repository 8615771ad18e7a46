/**
 * The fixture file of a task: who else is on the relay, what they say there, and what of it a verifier wants to see.
 *
 * It belongs to the task, not to the condition, and is never hashed. What a field means is told at `TaskFixture` of the runtime.
 */
import { Result, Schema } from "effect"
import type { ManifestDocument } from "./DocumentNode.ts"
import { FieldInvalid, type FieldReason } from "./FieldReason.ts"
import { fieldReasons, placeOf } from "./internal/fieldReasons.ts"
import { plainDocument } from "./internal/plainValue.ts"

const Text = Schema.String.check(Schema.isNonEmpty({ expected: "a text that is not empty" }))

/** Somebody who is to be found on the relay. */
export const FixtureEntry = Schema.Struct({
  name: Text,
  role: Schema.Literals(["user", "bot"]),
  /** Tells entries of one name apart; default: the name. */
  identity_id: Schema.optionalKey(Text),
  about: Schema.optionalKey(Schema.String),
  is_channel_member: Schema.optionalKey(Schema.Boolean)
})

/** A message that is sent right after the task. */
export const FixtureMessage = Schema.Struct({
  label: Text,
  /** `user`, or an identity of the directory that is a member of the channel. */
  actor: Text,
  content: Text,
  reply_to_task: Schema.optionalKey(Schema.Boolean),
  mention_orchestrator: Schema.optionalKey(Schema.Boolean)
})

/** The whole file. */
export const TaskFixtureFile = Schema.Struct({
  user_name: Schema.optionalKey(Text),
  directory: Schema.optionalKey(Schema.Array(FixtureEntry)),
  scripted: Schema.optionalKey(Schema.Array(FixtureMessage)),
  observed_channels: Schema.optionalKey(Schema.Array(Text))
})

/** The whole file. */
export type TaskFixtureFile = typeof TaskFixtureFile.Type

const decode = Schema.decodeUnknownResult(TaskFixtureFile, { errors: "all", onExcessProperty: "error" })

/** Reads a fixture document. Identities and labels stand once, and every message is said by somebody who may speak in the channel. */
export const fromDocument = (
  document: ManifestDocument
): Result.Result<TaskFixtureFile, ReadonlyArray<FieldReason>> => {
  const decoded = decode(plainDocument(document.root))
  if (Result.isFailure(decoded)) return Result.fail(fieldReasons(decoded.failure.issue, document, true))
  const { directory = [], scripted = [] } = decoded.success
  const reasons = [
    ...repeated(directory.map(identityOf), "an identity that no other entry has").map(
      ({ expected, found, index }) =>
        new FieldInvalid({
          ...placeOf(document, [
            "directory",
            index,
            directory[index]?.identity_id === undefined ? "name" : "identity_id"
          ]),
          expected,
          found,
          advice: "give one of them an identity_id of its own"
        })
    ),
    ...repeated(
      scripted.map(({ label }) => label),
      "a label that no other message has"
    ).map(
      ({ expected, found, index }) =>
        new FieldInvalid({ ...placeOf(document, ["scripted", index, "label"]), expected, found })
    ),
    ...scripted.flatMap(({ actor }, index) => {
      const problem = speakerProblem(actor, directory)
      return problem === undefined
        ? []
        : [new FieldInvalid({ ...placeOf(document, ["scripted", index, "actor"]), ...problem })]
    })
  ]
  return reasons.length === 0 ? Result.succeed(decoded.success) : Result.fail(reasons)
}

/** The actor who is the trial's user. */
const TRIAL_USER = "user"

type Entry = typeof FixtureEntry.Type

const identityOf = ({ identity_id, name }: Entry): string => identity_id ?? name

const quoted = (text: string): string => `the text ${JSON.stringify(text)}`

/** Each text that stood before. */
const repeated = (texts: ReadonlyArray<string>, expected: string) =>
  texts.flatMap((text, index) => (texts.indexOf(text) < index ? [{ index, expected, found: quoted(text) }] : []))

/** Why somebody cannot speak in the channel. */
const speakerProblem = (actor: string, directory: ReadonlyArray<Entry>) => {
  if (actor === TRIAL_USER) return undefined
  const entry = directory.find((each) => identityOf(each) === actor)
  const speakers = directory.filter(({ is_channel_member }) => is_channel_member === true).map(identityOf)
  const expected = `one of ${[TRIAL_USER, ...speakers].map((name) => `\`${name}\``).join(", ")}`
  if (entry === undefined) return { expected, found: quoted(actor) }
  return entry.is_channel_member === true
    ? undefined
    : {
        expected,
        found: quoted(actor),
        advice: "that entry of the directory is no member of the channel; give it `is_channel_member: true`"
      }
}
