/**
 * Asks a relay that runs already for its clock before anything is made: one that differs from this machine's refuses
 * signatures, with words that do not say why.
 */
import { ProvisioningError, RelayStepFailed } from "@buzz-orchestra/relay/ProvisioningError"
import * as RelayHealth from "@buzz-orchestra/relay/RelayHealth"
import { Effect } from "effect"
import type { HttpClient } from "effect/http"

/** Fails when no signature could be valid; says so when clocks differ by less. Everything else is seen by the trial itself. */
export const check = Effect.fn("RelayPreflight.check")(
  function* (
    url: string | undefined,
    warn: (line: string) => Effect.Effect<void>
  ): Effect.fn.Return<void, RelayStepFailed, HttpClient.HttpClient> {
    if (url === undefined) return
    const { skewSeconds = 0 } = yield* RelayHealth.check(url).pipe(
      Effect.catchTag("ClockSkewed", (reason) => Effect.fail(new RelayStepFailed({ step: "clock", reason }))),
      // Whether it is reached, and what it thinks of our keys, is found out where it is told with more words.
      Effect.catchIf(
        (reason) => reason._tag !== "RelayStepFailed",
        () => Effect.succeed({ skewSeconds: undefined })
      )
    )
    if (Math.abs(skewSeconds) >= RelayHealth.NOTICED_SKEW_SECONDS) yield* warn(skewLine(url, skewSeconds))
  },
  Effect.mapError((reason) => new ProvisioningError({ runId: "", trialId: "", reason }))
)

const skewLine = (url: string, skewSeconds: number): string =>
  `warning: this machine's clock is ${Math.abs(skewSeconds)} s ${skewSeconds > 0 ? "behind" : "ahead of"} that of ${url}, ` +
  `which refuses signatures more than ${RelayHealth.AUTHORISATION_LIMIT_SECONDS} s and events more than ${RelayHealth.EVENT_LIMIT_SECONDS} s from its own time`
