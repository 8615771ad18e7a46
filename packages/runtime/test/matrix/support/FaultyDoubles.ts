/**
 * The doubles of a trial behind fault points: each call goes through the case's `FaultPoints`, and what it hands out is noted
 * until it is given back.
 */
import { ArtifactUnreadable } from "@buzz-orchestra/manifest/ArtifactReason"
import { ManifestError } from "@buzz-orchestra/manifest/ManifestError"
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import { sha256 } from "@buzz-orchestra/manifest/Sha256"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as EventKind from "@buzz-orchestra/relay/EventKind"
import type { NostrEvent } from "@buzz-orchestra/relay/NostrEvent"
import { ProvisioningError, RelayStepFailed } from "@buzz-orchestra/relay/ProvisioningError"
import { RelayError, RelayRefused } from "@buzz-orchestra/relay/RelayError"
import { RelayObserver } from "@buzz-orchestra/relay/RelayObserver"
import { testIdentity } from "@buzz-orchestra/relay/testing/TestIdentity"
import { TestRelay } from "@buzz-orchestra/relay/testing/TestRelay"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { type ProvisionRequest, TrialProvisioner } from "@buzz-orchestra/relay/TrialProvisioner"
import * as TrialRoster from "@buzz-orchestra/relay/TrialRoster"
import { Effect, Layer } from "effect"
import type { FaultPoints } from "./FaultPoints.ts"

/** The channel of every case. */
export const CHANNEL = "99999999-8888-4777-8666-555555555555"

/** The user and up to six agents. Keys are costly to make and always the same. */
export const IDENTITIES = [1, 2, 3, 4, 5, 6, 7].map(testIdentity)

/** Prompts that cannot be read. */
export const manifests = (points: FaultPoints): Layer.Layer<ManifestService, never, ManifestService> =>
  Layer.effect(
    ManifestService,
    ManifestService.useSync((inner) =>
      ManifestService.of({
        ...inner,
        readArtifact: (root, ref) =>
          points.at("read the prompt", ref.path, inner.readArtifact(root, ref), (word) =>
            Effect.fail(
              ManifestError.fromReasons("verify artifact", [
                new ArtifactUnreadable({ file: `${ref.path} (${word})`, cause: word })
              ])
            )
          )
      })
    )
  )

/** A provisioner whose trial has a channel until it is taken down. */
export const provisioner = (points: FaultPoints): Layer.Layer<TrialProvisioner, never, TestRelay> =>
  Layer.effect(
    TrialProvisioner,
    TestRelay.useSync((relay) =>
      TrialProvisioner.of({
        create: (request) => {
          const { runId, trialId } = request
          const handle = handleOf(request)
          let isMade = false
          const making: Effect.Effect<TrialHandle, ProvisioningError> = Effect.map(relay.openChannel(handle), () => {
            points.take("channel")
            isMade = true
            return handle
          })
          const creating = points.at("provision", trialId, making, (word) =>
            Effect.fail(
              new ProvisioningError({
                runId,
                trialId,
                reason: new RelayStepFailed({ step: "channel", reason: refused(word) })
              })
            )
          )
          // As the real one: interruptible as it works, and what is made is not lost.
          return Effect.interruptible(creating).pipe(
            Effect.catchCause((cause) => (isMade ? Effect.succeed(handle) : Effect.failCause(cause))),
            Effect.uninterruptible
          )
        },
        teardown: ({ trialId }) => {
          return Effect.andThen(
            Effect.sync(() => points.giveBack("channel")),
            points.at("tear down", trialId, steps(undefined), steps)
          )
        },
        healthcheck: () => Effect.void
      })
    )
  )

const handleOf = ({ manifest, manifestHash, relayUrl, runId, trialId }: ProvisionRequest): TrialHandle => ({
  runId,
  trialId,
  manifestHash,
  relayUrl,
  userRelayUrl: undefined,
  channelId: CHANNEL,
  user: { name: "user", identity: IDENTITIES[0]! },
  credentials: TrialRoster.seats(manifest.roster).map((seat, index) => ({
    ...seat,
    identity: IDENTITIES[index + 1]!,
    apiKey: undefined
  }))
})

const steps = (error: string | undefined) => Effect.succeed([{ step: "archive channel", error }])

const refused = (word: string) => new RelayRefused({ url: "ws://relay", status: 400, detail: word })

const refusal = (operation: string) => (word: string) =>
  Effect.fail(new RelayError({ operation, reason: refused(word) }))

/** What the trial says and reads as the user. Nothing is signed: nobody here verifies, and signatures take their time. */
export const client = (
  points: FaultPoints,
  onTask: Effect.Effect<void>
): Layer.Layer<BuzzClient, never, BuzzClient | TestRelay> =>
  Layer.effect(
    BuzzClient,
    Effect.gen(function* () {
      const inner = yield* BuzzClient
      const relay = yield* TestRelay
      return BuzzClient.of({
        ...inner,
        send: ({ identity }, { channelId, content, mentions = [] }) => {
          const event = unsigned(identity.pubkey, content, [
            ["h", channelId],
            ...mentions.map((key) => ["p", key] as const)
          ])
          const sending: Effect.Effect<NostrEvent, RelayError> = Effect.as(
            Effect.andThen(relay.push(event), onTask),
            event
          )
          return points.at("send", channelId, sending, refusal("send"))
        },
        readChannel: (actor, channelId, options) =>
          points.at(
            "read the channel",
            channelId,
            inner.readChannel(actor, channelId, options),
            refusal("read channel")
          )
      })
    })
  )

/** A message of a case; what tells two apart is what they say. */
export const unsigned = (pubkey: string, content: string, tags: NostrEvent["tags"]): NostrEvent => ({
  id: sha256(content),
  pubkey,
  kind: EventKind.Message,
  created_at: 1_800_000_000,
  tags,
  content,
  sig: "0".repeat(128)
})

/** The subscription is held until its scope closes. */
export const observer = (points: FaultPoints): Layer.Layer<RelayObserver, never, RelayObserver> =>
  Layer.effect(
    RelayObserver,
    RelayObserver.useSync((inner) =>
      RelayObserver.of({
        observe: (options) =>
          points
            .at("observe", options.channelId, inner.observe(options), refusal("observe"))
            .pipe((observing) => points.holding("observation", observing))
      })
    )
  )
