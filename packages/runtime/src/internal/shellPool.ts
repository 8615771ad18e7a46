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
 * How long a busy shell is waited for before one more is opened: most commands end sooner, and opening costs about as much, in
 * a container a process of its engine besides.
 */
const PATIENCE = "50 millis"

/** Until a shell must have answered for the first time. */
const OPEN_LIMIT = "15 seconds"

/** Until a shell whose command has ended must be free. */
const FREE_LIMIT = "5 seconds"

/** At most `limit` shells are in use at once; the scope closes all. */
export const makeShellPool = Effect.fnUntraced(function* (
  host: ShellHost,
  limit: number
): Effect.fn.Return<ShellPool, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const permits = yield* Semaphore.make(limit)
  const idle = new Map<string | undefined, Array<PooledSession>>()
  /** Shells by user that are lent or being opened. */
  const busy = new Map<string | undefined, number>()
  /** Callers who wait for one of those, the longest first. */
  const waiting = new Map<string | undefined, Array<Deferred.Deferred<PooledSession>>>()
  /** Callers who have a shell or wait for one. */
  let callers = 0

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

  const idleOf = Effect.fnUntraced(function* (user: string | undefined) {
    const sessions = idle.get(user) ?? []
    for (let session = sessions.pop(); session !== undefined; session = sessions.pop()) {
      if (!session.isDead()) return session
      yield* Effect.forkIn(session.close, scope)
    }
    return undefined
  })

  const awaitBusy = Effect.fnUntraced(function* (user: string | undefined) {
    if ((busy.get(user) ?? 0) === 0) return undefined
    const turn = Deferred.makeUnsafe<PooledSession>()
    const queue = waiting.get(user) ?? []
    waiting.set(user, queue)
    queue.push(turn)
    const session = yield* Effect.timeoutOption(Deferred.await(turn), PATIENCE)
    if (Option.isSome(session)) return session.value
    const place = queue.indexOf(turn)
    if (place >= 0) queue.splice(place, 1)
    // Given at the very moment when the patience ended.
    return place >= 0 ? undefined : yield* Deferred.await(turn)
  })

  const note = (user: string | undefined, change: 1 | -1) => void busy.set(user, (busy.get(user) ?? 0) + change)

  const take = Effect.fnUntraced(function* (user: string | undefined) {
    const free = yield* idleOf(user)
    const session = free ?? (yield* awaitBusy(user))
    // A shell that is handed on stays busy all the time.
    if (free !== undefined || session === undefined) note(user, 1)
    return session ?? (yield* Effect.onError(open(user), () => Effect.sync(() => note(user, -1))))
  })

  const give = Effect.fnUntraced(function* (session: PooledSession, free: Option.Option<boolean>) {
    const clean = !session.isDead() && Option.getOrElse(free, () => false)
    const next = clean ? waiting.get(session.user)?.shift() : undefined
    if (next !== undefined) return void (yield* Deferred.succeed(next, session))
    note(session.user, -1)
    if (clean) return void idle.set(session.user, [...(idle.get(session.user) ?? []), session])
    // Held by a process left behind: it stays open, so that nothing of that process's output is refused.
    if (!session.isDead() && Option.isSome(free) && !free.value) return
    yield* Effect.forkIn(session.close, scope)
  })

  const leave = Effect.suspend(() => {
    callers -= 1
    if (callers > 0) return Effect.void
    const surplus = [...idle.values()].flatMap((sessions) => sessions.splice(KEEP_IDLE))
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

const silent = (host: ShellHost) =>
  new EnvironmentError({
    operation: "EnvironmentService.exec",
    reason: new CommandNotRun({
      environment: host.environment,
      action: "start a shell",
      detail: `sh did not answer within ${OPEN_LIMIT}`
    })
  })
