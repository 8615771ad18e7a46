/**
 * The open shells of an environment, by user. A shell is used by one caller at a time and used again only if it is clean.
 */
import { Deferred, Effect, Exit, Option, Scope, Semaphore } from "effect"
import { CommandNotRun, EnvironmentError } from "../EnvironmentError.ts"
import type { ShellHost } from "../Shell.ts"
import { openSession, SessionFailure, type ShellSession } from "./shellSession.ts"

interface PooledSession extends ShellSession {
  readonly user: string | undefined
  readonly close: Effect.Effect<void>
}

export interface ShellPool {
  /**
   * Lends a shell of `user` for one `start`. When `use` has ended the shell goes back once it is free; one that is not free
   * in time is closed. Waiting for a shell can be interrupted; opening one cannot, but is bounded.
   */
  readonly use: <A, E>(
    user: string | undefined,
    use: (session: ShellSession) => Effect.Effect<A, E>
  ) => Effect.Effect<A, E | SessionFailure | EnvironmentError>
}

/** Idle shells kept per user when nothing is running; the rest of a burst is closed. */
const KEEP_IDLE = 2

/**
 * How long a busy shell is waited for before one more is opened beside it: most commands end sooner, and opening costs about as
 * much, in a container a process of its engine besides, and far more on a busy machine.
 */
const PATIENCE = "50 millis"

/** Until a shell must have answered for the first time. */
const OPEN_LIMIT = "15 seconds"

/** Until a shell whose command has ended must be free. */
const FREE_LIMIT = "5 seconds"

/** The shells of one user. */
interface Lane {
  readonly idle: Array<PooledSession>
  /** Callers without a shell, the longest first. One that is out of patience has a shell opened on its account. */
  readonly waiting: Array<{ readonly turn: Turn; outOfPatience: boolean }>
  /** Shells that are lent or being opened. */
  coming: number
}

type Turn = Deferred.Deferred<PooledSession, SessionFailure | EnvironmentError>

/** At most `limit` shells are in use at once; the scope closes all. */
export const makeShellPool = Effect.fnUntraced(function* (
  host: ShellHost,
  limit: number
): Effect.fn.Return<ShellPool, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const permits = yield* Semaphore.make(limit)
  const lanes = new Map<string | undefined, Lane>()
  /** Callers who have a shell or wait for one. */
  let callers = 0

  const laneOf = (user: string | undefined): Lane => {
    const lane = lanes.get(user) ?? { idle: [], waiting: [], coming: 0 }
    lanes.set(user, lane)
    return lane
  }

  const open = Effect.fnUntraced(function* (user: string | undefined) {
    const own = yield* Scope.fork(scope)
    const session = yield* host.open(["sh"], { user }).pipe(
      Effect.flatMap(openSession),
      Effect.timeoutOrElse({ duration: OPEN_LIMIT, orElse: () => Effect.fail(silent(host)) }),
      Scope.provide(own),
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause)))
    )
    return { ...session, user, close: Scope.close(own, Exit.void) }
  })

  const idleOf = Effect.fnUntraced(function* ({ idle }: Lane) {
    for (let session = idle.pop(); session !== undefined; session = idle.pop()) {
      if (!session.isDead()) return session
      yield* Effect.forkIn(session.close, scope)
    }
    return undefined
  })

  /** What comes first is taken, a shell that is given back or the new one; the other serves the next caller. */
  const awaitTurn = Effect.fnUntraced(function* (user: string | undefined, lane: Lane) {
    const turn: Turn = Deferred.makeUnsafe()
    const waiter = { turn, outOfPatience: false }
    lane.waiting.push(waiter)
    const soon = lane.coming === 0 ? Option.none() : yield* Effect.timeoutOption(Deferred.await(turn), PATIENCE)
    if (Option.isSome(soon) || !lane.waiting.includes(waiter)) return yield* Deferred.await(turn)
    waiter.outOfPatience = true
    lane.coming += 1
    const opening = yield* Effect.forkIn(open(user), scope)
    opening.addObserver((exit) => arrive(lane, exit))
    return yield* Deferred.await(turn)
  })

  const take = Effect.fnUntraced(function* (user: string | undefined) {
    const lane = laneOf(user)
    const session = yield* idleOf(lane)
    if (session === undefined) return yield* awaitTurn(user, lane)
    lane.coming += 1
    return session
  })

  const give = Effect.fnUntraced(function* (session: PooledSession, free: Option.Option<boolean>) {
    const lane = laneOf(session.user)
    const clean = !session.isDead() && Option.getOrElse(free, () => false)
    if (clean) return arrive(lane, Exit.succeed(session))
    lane.coming -= 1
    // Held by a process left behind: it stays open, so that nothing of that process's output is refused.
    if (!session.isDead() && Option.isSome(free) && !free.value) return
    yield* Effect.forkIn(session.close, scope)
  })

  const leave = Effect.suspend(() => {
    callers -= 1
    if (callers > 0) return Effect.void
    const surplus = [...lanes.values()].flatMap(({ idle }) => idle.splice(KEEP_IDLE))
    return Effect.forEach(surplus, ({ close }) => Effect.forkIn(close, scope), { discard: true })
  })

  const lend = Effect.fnUntraced(function* (user: string | undefined) {
    const session = yield* take(user)
    let free: Effect.Effect<boolean> = Effect.succeed(true)
    const lent: ShellSession = {
      ...session,
      start: (request, maxOutputBytes) => {
        const running = session.start(request, maxOutputBytes)
        free = running.free
        return running
      }
    }
    return { session, lent, free: Effect.suspend(() => Effect.timeoutOption(free, FREE_LIMIT)) }
  })

  const use: ShellPool["use"] = (user, body) =>
    Effect.acquireUseRelease(
      Effect.sync(() => void (callers += 1)),
      () =>
        permits.withPermits(1)(
          Effect.acquireUseRelease(
            lend(user),
            ({ lent }) => body(lent),
            ({ free, session }) => Effect.flatMap(free, (answer) => give(session, answer))
          )
        ),
      () => leave
    )

  return { use }
})

/** A shell is handed to who waits longest, and stays lent; that none came is told to one on whose account it was opened. */
const arrive = (lane: Lane, exit: Exit.Exit<PooledSession, SessionFailure | EnvironmentError>): void => {
  const next = Exit.isSuccess(exit) ? lane.waiting[0] : lane.waiting.find(({ outOfPatience }) => outOfPatience)
  if (next !== undefined) {
    lane.waiting.splice(lane.waiting.indexOf(next), 1)
    Deferred.doneUnsafe(next.turn, exit)
  }
  if (next !== undefined && Exit.isSuccess(exit)) return
  lane.coming -= 1
  if (Exit.isSuccess(exit)) lane.idle.push(exit.value)
}

const silent = (host: ShellHost) =>
  new EnvironmentError({
    operation: "EnvironmentService.exec",
    reason: new CommandNotRun({
      environment: host.environment,
      action: "start a shell",
      detail: `sh did not answer within ${OPEN_LIMIT}`
    })
  })
