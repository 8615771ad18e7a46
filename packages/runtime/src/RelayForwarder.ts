/**
 * The loopback bridge that keeps the relay's own address inside an environment: the relay selects by the `Host` it is
 * addressed with, so agents must dial the canonical URL even where the relay is reached through a gateway.
 */
import { authority } from "@buzz-orchestra/relay/RelayUrl"
import { Clock, Duration, Effect, Option, Result, type Scope } from "effect"
import type { RunningProgram, Supervision } from "./AgentSupervisor.ts"
import type { EnvironmentError } from "./EnvironmentError.ts"
import { ofRelayUrl } from "./internal/foreignReason.ts"
import {
  BinaryMissing,
  ForwarderDied,
  ForwarderNotLaunched,
  ForwarderNotReady,
  ForwarderPortBusy,
  type ForwardReason
} from "./RuntimeLaunchError.ts"
import { FORWARDER } from "./StackFiles.ts"
import type { InstalledStack } from "./StackInstaller.ts"

/** A forwarder that ends because its port is held may only have to wait for the holder to go. */
export const BIND_ATTEMPTS = 6

/** Attempt n is followed by n times this long. */
const BIND_PAUSE = Duration.seconds(1)

/** What a forwarder is started with. */
export interface ForwarderOptions {
  readonly supervision: Pick<Supervision, "start">
  readonly stack: InstalledStack
  /** The relay as the agents dial it; its authority is listened on. */
  readonly relayUrl: string
  /** `host:port` of the relay as seen from the environment. */
  readonly gateway: string
  /** For all attempts together. */
  readonly readyWithin: Duration.Duration
}

/** Starts the forwarder and returns once it says that it forwards. The scope ends it. */
export const start = Effect.fn("RelayForwarder.start")(function* (
  options: ForwarderOptions
): Effect.fn.Return<RunningProgram, ForwardReason | EnvironmentError, Scope.Scope> {
  const { gateway, relayUrl, stack, supervision } = options
  const listen = yield* Effect.fromResult(Result.mapError(authority(relayUrl), (it) => ofRelayUrl(it, "forwarder")))
  const program = `${stack.layout.bin}/${FORWARDER}`
  if (stack.digests[FORWARDER] === undefined)
    return yield* new BinaryMissing({ missing: [{ name: FORWARDER, path: program }] })
  const startedAt = yield* Clock.currentTimeMillis
  const deadline = startedAt + Duration.toMillis(options.readyWithin)

  for (let attempt = 1; ; attempt++) {
    const running = yield* supervision
      .start({ name: FORWARDER, program, args: [listen, gateway] })
      .pipe(Effect.catchTag("AgentNotLaunched", notLaunched))
    const left = Duration.millis(Math.max(0, deadline - (yield* Clock.currentTimeMillis)))
    const outcome = yield* Effect.timeoutOption(firstWord(running), left)
    if (Option.isNone(outcome)) {
      const elapsedMillis = (yield* Clock.currentTimeMillis) - startedAt
      const configuredMillis = Duration.toMillis(options.readyWithin)
      const lastLines = yield* running.lastLines
      return yield* new ForwarderNotReady({ deadline: { configuredMillis, elapsedMillis }, lastLines })
    }
    if (outcome.value === "forwards") return running
    const lastLines = yield* running.lastLines
    const { exitCode, signal } = outcome.value
    if (!lastLines.some(isBusy)) return yield* new ForwarderDied({ exitCode, signal, lastLines })
    const pause = Duration.times(BIND_PAUSE, attempt)
    const late = (yield* Clock.currentTimeMillis) + Duration.toMillis(pause) >= deadline
    if (attempt === BIND_ATTEMPTS || late)
      return yield* new ForwarderPortBusy({ address: listen, attempts: attempt, lastLines })
    yield* Effect.sleep(pause)
  }
})

const firstWord = (running: RunningProgram) =>
  Effect.raceFirst(Effect.as(running.awaitLine(/^forwarding /), "forwards" as const), running.end)

/** As Rust and as Node say it. */
const isBusy = (line: string): boolean => /AddrInUse|EADDRINUSE|address (already )?in use/i.test(line)

const notLaunched = (refusal: {
  readonly detail: string
  readonly exitCode: number | undefined
  readonly lastLines: ReadonlyArray<string>
}) =>
  Effect.fail(
    new ForwarderNotLaunched({
      detail: refusal.detail,
      exitCode: refusal.exitCode,
      lastLines: refusal.lastLines
    })
  )
