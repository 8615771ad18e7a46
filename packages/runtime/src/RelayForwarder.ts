/**
 * The loopback bridge that keeps the relay's own address inside an environment: the relay selects by the `Host` it is
 * addressed with, so agents must dial the canonical URL even where the relay is reached through a gateway.
 */
import { authority } from "@buzz-orchestra/relay/RelayUrl"
import { Clock, Duration, Effect, type FileSystem, Option, Result, Scope } from "effect"
import type { RunningProgram, Supervision } from "./AgentSupervisor.ts"
import type { EnvironmentError } from "./EnvironmentError.ts"
import type { EnvironmentService } from "./EnvironmentService.ts"
import { ofRelayUrl } from "./internal/foreignReason.ts"
import { ownerOfPort } from "./internal/portOwner.ts"
import { findForwarder } from "./internal/runningForwarder.ts"
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
  readonly supervision: Pick<Supervision, "start" | "adopt">
  readonly stack: InstalledStack
  /** The relay as the agents dial it; its authority is listened on. */
  readonly relayUrl: string
  /** `host:port` of the relay as seen from the environment. */
  readonly gateway: string
  /** For all attempts together. */
  readonly readyWithin: Duration.Duration
  /** The forwarder of an earlier trial is taken over when it listens at this very address and leads to this very gateway. */
  readonly adopt?: boolean
  /** The scope does not end it: a later trial in the same environment will adopt it. */
  readonly keep?: boolean
}

type Needs = EnvironmentService | FileSystem.FileSystem | Scope.Scope

/**
 * Starts the forwarder and returns once it says that it forwards, or takes over one that does. The scope ends it, unless it is to
 * be kept. Whether it leads to a relay is not known yet: it says that it forwards before it has connected to anything.
 */
export const start = Effect.fn("RelayForwarder.start")(function* (
  options: ForwarderOptions
): Effect.fn.Return<RunningProgram, ForwardReason | EnvironmentError, Needs> {
  // One that nobody closes: the sweep is told to spare the program, and nothing else of it belongs to a scope.
  if (options.keep === true) return yield* Scope.provide(startOrAdopt(options), yield* Scope.make())
  return yield* startOrAdopt(options)
})

const startOrAdopt = Effect.fnUntraced(function* (options: ForwarderOptions) {
  const { gateway, relayUrl, stack, supervision } = options
  const listen = yield* Effect.fromResult(Result.mapError(authority(relayUrl), (it) => ofRelayUrl(it, "forwarder")))
  const program = `${stack.layout.bin}/${FORWARDER}`
  if (stack.digests[FORWARDER] === undefined)
    return yield* new BinaryMissing({ missing: [{ name: FORWARDER, path: program }] })
  const running = options.adopt === true ? yield* findForwarder(stack.layout.bin, listen, gateway) : undefined
  if (running !== undefined)
    return yield* supervision
      .adopt({ name: FORWARDER, ...running })
      .pipe(Effect.catchTag("AgentNotLaunched", notLaunched))
  return yield* startNew(options, listen, program)
})

const startNew = Effect.fnUntraced(function* (options: ForwarderOptions, listen: string, program: string) {
  const { gateway, supervision } = options
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
    if (attempt === BIND_ATTEMPTS || late) {
      const owner = yield* ownerOfPort(listen)
      const busy = { listener: FORWARDER, address: listen, attempts: attempt, owner, lastLines } as const
      return yield* new ForwarderPortBusy(busy)
    }
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
