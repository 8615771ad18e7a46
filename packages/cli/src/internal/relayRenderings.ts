import type { ProvisioningReason } from "@buzz-orchestra/relay/ProvisioningError"
import type { RelayReason } from "@buzz-orchestra/relay/RelayError"
import type { Rendered, Renderings } from "./rendering.ts"

const steps: Renderings<RelayReason> = {
  RelayUnreachable: ({ detail, url }) => ({
    line: `the relay ${url} cannot be reached: ${detail}`,
    next: "check that it runs and that the URL is right"
  }),
  RelayRateLimited: ({ detail, retryAfterMillis, url }) => ({
    line: `the relay ${url} asks to slow down: ${detail}`,
    next:
      retryAfterMillis === undefined
        ? "wait a minute and try again"
        : `try again in ${Math.ceil(retryAfterMillis / 1000)} s`
  }),
  RelayAuthRefused: ({ detail, pubkey, url }) => ({
    line: `the relay ${url} does not accept the identity ${pubkey}: ${detail}`,
    next: "a closed relay admits only attested keys: name the variable of its owner's key with --owner-key-env"
  }),
  RelayRefused: ({ detail, status, url }) => ({
    line: `the relay ${url} refused${status === undefined ? "" : ` (HTTP ${status})`}: ${detail}`,
    next: "the relay's sentence says which rule was broken"
  }),
  RelayReplyMalformed: ({ detail, url }) => ({
    line: `${url} did not answer as a relay: ${detail}`,
    next: "check that the URL is a Buzz relay and not a proxy in front of it"
  }),
  RelayUrlInvalid: ({ expected, url }) => ({
    line: `${url} is not a relay URL that can be used here`,
    next: `give ${expected}`
  }),
  MessageTooLong: ({ limit, size }) => ({
    line: `a message of ${size} bytes is over the limit of ${limit}`,
    next: "shorten the instruction, or put the long part into a file and give it with --upload"
  }),
  MentionNotStored: ({ eventId, missing }) => ({
    line: `the relay stored ${eventId} without the mention of ${missing.join(", ")}, so nobody would wake`,
    next: "check the members of the channel and the version of the relay"
  }),
  BuzzProgramFailed: ({ detail, program }) => ({
    line: `the program ${program} failed: ${detail}`,
    next: "give the path of a working `buzz` with --buzz, or leave out --client cli"
  }),
  MentionsUnsupported: ({ program }) => ({
    line: `the program ${program} cannot mention by key, so nobody would wake`,
    next: "give a newer build with --buzz, or leave out --client cli"
  }),
  ClockSkewed: ({ limitSeconds, skewSeconds, url }) => ({
    line: `this machine's clock is ${Math.abs(skewSeconds)} s ${skewSeconds > 0 ? "behind" : "ahead of"} the relay's; ${url} takes at most ${limitSeconds} s`,
    next: "set this machine's clock, or the relay's"
  }),
  KeyInvalid: ({ expected }) => ({ line: "a key is no key", next: `give ${expected}` })
}

const renderStep = (reason: RelayReason): Rendered => (steps[reason._tag] as (reason: RelayReason) => Rendered)(reason)

export const relayRenderings: Renderings<RelayReason | ProvisioningReason> = {
  ...steps,
  TrialConflict: ({ existingHash, requestedHash, runId, trialId }) => ({
    line: `the trial ${trialId} of the run ${runId} exists with another manifest`,
    detail: [`existing  ${existingHash}`, `requested ${requestedHash}`],
    next: "use another trial id, or the manifest it was made with"
  }),
  HandleStoreFailed: ({ detail, file }) => ({
    line: `the saved trial ${file} cannot be used: ${detail}`,
    next: "save trials in a directory of your own that nobody else can read"
  }),
  ApiKeyMissing: ({ endpoint, variable }) => ({
    line: `no API key for the endpoint ${endpoint}`,
    next: variable === undefined ? "add the endpoint to the endpoints file" : `set ${variable}`
  }),
  RelayStepFailed: ({ reason, step }) => {
    const { detail, line, next } = renderStep(reason)
    return { line: `${step}: ${line}`, ...(detail === undefined ? {} : { detail }), next }
  }
}
