/**
 * Knows every secret of a trial, as far as the trial has come.
 */
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import * as Redaction from "../Redaction.ts"
import type { TrialOptions } from "../TrialOptions.ts"
import { secretsOf } from "./composeTeam.ts"

/** Computing the forms of all secrets takes a while, and several parts of a trial need them. */
const known = new WeakMap<TrialHandle, { readonly options: TrialOptions; readonly redactor: Redaction.Redactor }>()

/** Of a trial that is provisioned, or of one that is not yet. */
export const trialRedactor = (handle: TrialHandle | undefined, options: TrialOptions): Redaction.Redactor => {
  if (handle === undefined) return Redaction.make(secretsOf(handle, options))
  const before = known.get(handle)
  // A trial that is run again may have the same handle, and other API keys.
  if (before?.options === options) return before.redactor
  const redactor = Redaction.make(secretsOf(handle, options))
  known.set(handle, { options, redactor })
  return redactor
}
