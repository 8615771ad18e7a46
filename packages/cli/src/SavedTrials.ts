/**
 * Where this machine remembers trials on relays that run already, so that what a killed command left there can be taken down,
 * and a trial be watched by another command. Beside each trial stands which process made it, and how it spoke with the relay.
 */
import { HandleStoreFailed, ProvisioningError } from "@buzz-orchestra/relay/ProvisioningError"
import * as TrialHandleFiles from "@buzz-orchestra/relay/TrialHandleFiles"
import type { TrialHandleStore } from "@buzz-orchestra/relay/TrialHandleStore"
import { Owner } from "@buzz-orchestra/runtime/docker/OwnerLabels"
import { Config, Effect, FileSystem, Layer, Option, Path, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"
import { RelayOptions } from "./RelayOptions.ts"

/** What stands beside a saved trial. */
export const SavedNote = Schema.Struct({
  /** The process that made it. */
  owner: Owner,
  relay: RelayOptions,
  /** Whether its channel is to stay when the trial has ended. */
  keepsChannel: Schema.Boolean,
  /** The trial directory, where it was on this machine. */
  directory: Schema.String
})
/** What stands beside a saved trial. */
export type SavedNote = typeof SavedNote.Type

const Encoded = Schema.fromJsonString(SavedNote)
const encode = Schema.encodeSync(Encoded)

/** Reads the note of a saved trial; `undefined` when it is none of ours. */
export const noteOf = (text: string | undefined): SavedNote | undefined =>
  Option.getOrUndefined(Schema.decodeUnknownOption(Encoded)(text))

/** The directory of saved trials, in the state directory of the user who runs this command; whoever has no home has none. */
const directory: Effect.Effect<string | undefined, never, Path.Path> = Effect.gen(function* () {
  const path = yield* Path.Path
  const home = yield* variable("HOME")
  const state = (yield* variable("XDG_STATE_HOME")) ?? (home && path.join(home, ".local", "state"))
  return state && path.join(state, "buzz-orchestra", "trials")
})

/** An empty variable is as good as none. */
const variable = (name: string) =>
  Config.option(Config.String(name)).pipe(
    Effect.orElseSucceed(() => Option.none<string>()),
    Effect.map((value) => Option.getOrUndefined(Option.filter(value, (text) => text !== "")))
  )

/** The store of this machine; what it puts says `note`. Its key is made on first use, beside the directory. */
export const layer = (
  note: SavedNote | undefined
): Layer.Layer<TrialHandleStore, ProvisioningError, FileSystem.FileSystem | Path.Path | SecureRandom.SecureRandom> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const trials = yield* directory
      if (trials === undefined) return yield* new HandleStoreFailed({ file: "trials", detail: NO_HOME })
      const key = yield* keyIn(trials)
      return TrialHandleFiles.layer({
        directory: trials,
        key,
        ...(note === undefined ? {} : { note: encode(note) })
      })
    })
  ).pipe(
    Layer.catchTag("HandleStoreFailed", (reason): Layer.Layer<TrialHandleStore, ProvisioningError> =>
      Layer.unwrap(Effect.fail(unusable(reason)))
    )
  )

/** The trials that are saved here, and what stands beside them; of those of another make the note is missing. */
export const list = Effect.gen(function* () {
  const trials = yield* directory
  const saved = trials === undefined ? [] : yield* TrialHandleFiles.facts(trials)
  return saved.map((facts) => ({ ...facts, note: noteOf(facts.note) }))
}).pipe(Effect.mapError((reason) => unusable(reason)))

/** Made once; two commands that start at once agree on the one that was there first. */
const keyIn = Effect.fnUntraced(function* (trials: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = `${trials}.key`
  const random = yield* SecureRandom.SecureRandom
  const fresh = Hex.encode(yield* random.randomBytes(KEY_BYTES))
  const failing = Effect.mapError(
    (cause: { readonly message: string }) => new HandleStoreFailed({ file, detail: cause.message, cause })
  )
  if (!(yield* failing(fs.exists(file)))) {
    yield* failing(fs.makeDirectory(path.dirname(file), { recursive: true, mode: 0o700 }))
    yield* Effect.ignore(fs.writeFileString(file, `${fresh}\n`, { flag: "wx", mode: 0o600 }))
  }
  const { mode } = yield* failing(fs.stat(file))
  if ((mode & 0o077) !== 0) {
    return yield* new HandleStoreFailed({ file, detail: "others may read this key; chmod 600 it if nobody did" })
  }
  return Redacted.make((yield* failing(fs.readFileString(file))).trim(), { label: "key of saved trials" })
})

const KEY_BYTES = 32

const NO_HOME = "neither XDG_STATE_HOME nor HOME says where they are kept"

/** A store that cannot be used, as an error of no trial in particular. */
export const unusable = (reason: HandleStoreFailed) => new ProvisioningError({ runId: "", trialId: "", reason })
