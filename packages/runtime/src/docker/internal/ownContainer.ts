/**
 * A container of ours: created, held by this process, started, and removed with the scope.
 */
import { Duration, Effect, Scope } from "effect"
import { ContainerEngine } from "../ContainerEngine.ts"
import type { ContainerSpec } from "../ContainerSpec.ts"
import { type EngineError, EngineUnreachable } from "../EngineError.ts"

/** An engine that does not remove a container by then leaves it to \`Reaper\`. */
const REMOVAL_LIMIT = Duration.seconds(30)

/** Making a container cannot be interrupted, or it might be made and forgotten; so it must end. */
const CREATION_LIMIT = Duration.minutes(2)

const silent = (address: string) =>
  new EngineUnreachable({ address, detail: `no container was made within ${Duration.format(CREATION_LIMIT)}` })

/** What was created, and what the engine had to remark. */
export interface OwnContainer {
  readonly id: string
  readonly warnings: ReadonlyArray<string>
}

/**
 * The container's stdin is held before it starts, so that there is no moment in which the end of this process would leave it
 * running.
 */
export const ownContainer = Effect.fnUntraced(function* (
  spec: ContainerSpec
): Effect.fn.Return<OwnContainer, EngineError, ContainerEngine | Scope.Scope> {
  const engine = yield* ContainerEngine
  const removed = (id: string) =>
    engine.removeContainer(id).pipe(
      Effect.timeout(REMOVAL_LIMIT),
      // A finalizer cannot fail; what is left is found again by its labels.
      Effect.catch((error) =>
        Effect.logWarning(
          `container ${spec.name} was not removed: ${error.message}; buzz-orchestra reap removes it later`
        )
      )
    )
  // Let go only after the removal: Podman fails to remove a container that ends at that moment.
  const stdin = yield* Scope.make()
  yield* Effect.addFinalizer((exit) => Scope.close(stdin, exit))
  const created = createWithin(spec).pipe(
    Effect.timeoutOrElse({ duration: CREATION_LIMIT, orElse: () => Effect.fail(silent(engine.facts.address)) })
  )
  const own = yield* Effect.acquireRelease(created, ({ id }) => removed(id))
  yield* Scope.provide(engine.holdStdin(own.id), stdin)
  yield* engine.startContainer(own.id)
  return own
})

/** A storage limit is asked for where it can be had: most storage drivers refuse it. */
const createWithin = Effect.fnUntraced(function* (spec: ContainerSpec) {
  const engine = yield* ContainerEngine
  const { storageMb, ...limits } = spec.limits
  if (storageMb === undefined) return yield* engine.createContainer(spec)
  return yield* engine.createContainer(spec).pipe(
    Effect.catchIf(isAboutStorage, (refusal) =>
      Effect.map(engine.createContainer({ ...spec, limits }), ({ id, warnings }) => ({
        id,
        warnings: [
          ...warnings,
          `Storage is not limited to ${storageMb} MiB: ${refusal._tag === "EngineRefused" ? refusal.detail : refusal.message}.`
        ]
      }))
    )
  )
})

const isAboutStorage = (error: EngineError): boolean =>
  error._tag === "EngineRefused" && /storage|quota|--storage-opt|size/i.test(error.detail)
