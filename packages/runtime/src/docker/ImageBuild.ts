/**
 * The image of a Dockerfile directory, built once per content: the same directory on the same base images is the image that
 * was built before.
 */
import * as Sha256 from "@buzz-orchestra/manifest/Sha256"
import { Effect, type FileSystem, type Path, type PlatformError, Stream } from "effect"
import { type BuildContext, readBuildContext } from "./BuildContext.ts"
import { ContainerEngine } from "./ContainerEngine.ts"
import type { EngineError } from "./EngineError.ts"
import { CONTENT_LABEL, type Owner, toLabels } from "./OwnerLabels.ts"

/** An image that stands for a directory's content. */
export interface BuiltImage {
  /** By which the engine finds it. */
  readonly reference: string
  readonly id: string
  /** Whether it was there before. */
  readonly cached: boolean
}

const REPOSITORY = "buzz-orchestra/build"

/** Enough of the digest to tell contexts apart; the whole stands in a label. */
const TAG_DIGITS = 24

/** `onProgress` gets each line of the build as it comes; none when the image is there already. */
export const buildImage = Effect.fn("ImageBuild.buildImage")(function* (options: {
  readonly directory: string
  readonly owner: Owner
  readonly onProgress: (line: string) => Effect.Effect<void>
}): Effect.fn.Return<
  BuiltImage,
  EngineError | PlatformError.PlatformError,
  ContainerEngine | FileSystem.FileSystem | Path.Path
> {
  const engine = yield* ContainerEngine
  const context = yield* readBuildContext(options.directory)
  const digest = yield* contentDigest(context)
  const reference = `${REPOSITORY}:${digest.slice(0, TAG_DIGITS)}`
  const found = yield* engine.inspectImage(reference)
  if (found?.labels[CONTENT_LABEL] === digest) return { reference, id: found.id, cached: true }
  let unread: PlatformError.PlatformError | undefined
  const id = yield* engine
    .buildImage({
      // The engine sees an archive that ends too early and says something else; the reason is kept here.
      archive: context.archive.pipe(
        Stream.catch((error) => {
          unread = error
          return Stream.empty
        })
      ),
      tag: reference,
      labels: { ...toLabels(options.owner), [CONTENT_LABEL]: digest },
      onProgress: options.onProgress
    })
    .pipe(Effect.mapError((error) => unread ?? error))
  return { reference, id, cached: false }
})

/** A base image that was replaced under its name makes another image of the same directory. */
const contentDigest = Effect.fnUntraced(function* ({ bases, digest }: BuildContext) {
  const engine = yield* ContainerEngine
  const ids = yield* Effect.forEach(bases, (base) =>
    Effect.map(engine.inspectImage(base), (image) => image?.id ?? base)
  )
  return Sha256.sha256([digest, ...ids].join("\n"))
})
