/**
 * Loads, validates and identifies a condition, and verifies what it pins.
 *
 * It only reads files; what a document means is decided in pure modules (`YamlDocument`, `Condition`, `Roster`,
 * `EndpointLaunchConfig`, `TaskFixtureFile`).
 */
import { Config, Context, Effect, FileSystem, Layer, Option, Path, Result, Stream } from "effect"
import { ArtifactMismatch, type ArtifactReason, ArtifactUnreadable } from "./ArtifactReason.ts"
import * as Condition from "./Condition.ts"
import * as DecodedDocument from "./DecodedDocument.ts"
import type { Dialect } from "./Dialect.ts"
import type { ManifestDocument } from "./DocumentNode.ts"
import { type DocumentReason, DocumentTooLarge, ManifestUnreadable } from "./DocumentReason.ts"
import * as EndpointLaunchConfig from "./EndpointLaunchConfig.ts"
import type { AgentClass, ArtifactRef, ExperimentManifest } from "./ExperimentManifest.ts"
import { ManifestError, type ManifestOperation, type ManifestReason } from "./ManifestError.ts"
import * as Roster from "./Roster.ts"
import * as Sha256 from "./Sha256.ts"
import * as TaskFixtureFile from "./TaskFixtureFile.ts"
import * as YamlDocument from "./YamlDocument.ts"

export type { AgentKind } from "./Roster.ts"

/** How to read a manifest. */
export interface LoadOptions {
  /** Read it as this dialect. Without it the dialect is found from what the document uses. */
  readonly dialect?: Dialect
}

/** The largest file read, in bytes. The published manifests have a few thousand. */
export const MAX_FILE_BYTES = 1024 * 1024

/** Reads manifests and endpoints files, and checks pinned artifacts and credentials against a manifest. */
export class ManifestService extends Context.Service<
  ManifestService,
  {
    /**
     * Reads a manifest: a string is the path of a YAML or JSON file (`~` is the home directory), anything else a
     * decoded value.
     */
    load(source: unknown, options?: LoadOptions): Effect.Effect<Condition.Condition, ManifestError>
    /** Hashes the file `ref.path` under `root` while reading it; returns its absolute path when the digest is the pinned one. */
    verifyArtifact(root: string, ref: ArtifactRef): Effect.Effect<string, ManifestError>
    /** The bytes of a pinned file; what was hashed is what is returned, whatever happens to the file meanwhile. */
    readArtifact(root: string, ref: ArtifactRef): Effect.Effect<Uint8Array, ManifestError>
    /** The class of each agent, in the order of the roster. Every agent has exactly one credential, of its class's kind. */
    classesByAgentId(
      manifest: ExperimentManifest,
      credentials: ReadonlyArray<Roster.AgentKind>
    ): Effect.Effect<ReadonlyMap<string, AgentClass>, ManifestError>
    /**
     * Reads an endpoints file (path or decoded value) and refuses identity overrides. With a manifest, the file must
     * have exactly the endpoints of its roster.
     */
    loadEndpoints(
      source: unknown,
      manifest?: ExperimentManifest
    ): Effect.Effect<EndpointLaunchConfig.EndpointLaunchConfig, ManifestError>
    /** Reads the fixture file of a task (path or decoded value). */
    loadFixture(source: unknown): Effect.Effect<TaskFixtureFile.TaskFixtureFile, ManifestError>
  }
>()("@buzz-orchestra/manifest/ManifestService") {
  /** Reads from the file system of the program that it is part of. */
  static readonly layer = Layer.effect(
    ManifestService,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path

      const readDocument = Effect.fnUntraced(function* (source: unknown, file: string | undefined) {
        if (file === undefined) return yield* Effect.fromResult(DecodedDocument.fromValue(source))
        const bytes = yield* Stream.mkUint8Array(fs.stream(file, { bytesToRead: MAX_FILE_BYTES + 1 })).pipe(
          Effect.mapError((cause): ReadonlyArray<DocumentReason> => [new ManifestUnreadable({ file, cause })])
        )
        if (bytes.length > MAX_FILE_BYTES) return yield* Effect.fail([new DocumentTooLarge({ limit: MAX_FILE_BYTES })])
        return yield* Effect.fromResult(YamlDocument.fromBytes(bytes))
      })

      /** Reads `source` and hands it to `use`; both fail with reasons, wrapped here with the file they are about. */
      const read = <A>(
        operation: ManifestOperation,
        source: unknown,
        use: (document: ManifestDocument) => Result.Result<A, ReadonlyArray<ManifestReason>>
      ) =>
        Effect.gen(function* () {
          const file = typeof source === "string" ? path.resolve(yield* expandHome(source)) : undefined
          const value = yield* readDocument(source, file).pipe(
            Effect.flatMap((document): Effect.Effect<A, ReadonlyArray<ManifestReason>> =>
              Effect.fromResult(use(document))
            ),
            Effect.mapError((reasons) => ManifestError.fromReasons(operation, reasons, file))
          )
          return { value, file }
        })

      const load = Effect.fn("ManifestService.load")(function* (source: unknown, options?: LoadOptions) {
        const { value, file } = yield* read("load", source, (document) =>
          Condition.fromDocument(document, options?.dialect)
        )
        return file === undefined ? value : { ...value, source: file, directory: path.dirname(file) }
      })

      const verifyArtifact = Effect.fn("ManifestService.verifyArtifact")(function* (root: string, ref: ArtifactRef) {
        const file = path.resolve(yield* expandHome(root), ref.path)
        const hash = Sha256.incremental()
        yield* fs.stream(file).pipe(
          Stream.runForEach((part) => Effect.sync(() => hash.update(part))),
          Effect.mapError((cause) => artifactError(new ArtifactUnreadable({ file, cause })))
        )
        yield* matches(file, ref, hash.digest())
        return file
      })

      const readArtifact = Effect.fn("ManifestService.readArtifact")(function* (root: string, ref: ArtifactRef) {
        const file = path.resolve(yield* expandHome(root), ref.path)
        const bytes = yield* fs
          .readFile(file)
          .pipe(Effect.mapError((cause) => artifactError(new ArtifactUnreadable({ file, cause }))))
        yield* matches(file, ref, Sha256.sha256(bytes))
        return bytes
      })

      const classesByAgentId = Effect.fn("ManifestService.classesByAgentId")(
        (manifest: ExperimentManifest, credentials: ReadonlyArray<Roster.AgentKind>) =>
          Effect.mapError(Effect.fromResult(Roster.classesByAgentId(manifest, credentials)), (reason) =>
            ManifestError.fromReasons("map credentials", [reason])
          )
      )

      const loadEndpoints = Effect.fn("ManifestService.loadEndpoints")(function* (
        source: unknown,
        manifest?: ExperimentManifest
      ) {
        const { value } = yield* read("load endpoints", source, (document) =>
          EndpointLaunchConfig.fromDocument(document, manifest)
        )
        return value
      })

      const loadFixture = Effect.fn("ManifestService.loadFixture")(function* (source: unknown) {
        const { value } = yield* read("load fixture", source, TaskFixtureFile.fromDocument)
        return value
      })

      return ManifestService.of({ load, verifyArtifact, readArtifact, classesByAgentId, loadEndpoints, loadFixture })
    })
  )
}

const matches = (file: string, { sha256: expected }: ArtifactRef, actual: string) =>
  expected === actual ? Effect.void : Effect.fail(artifactError(new ArtifactMismatch({ file, expected, actual })))

const artifactError = (reason: ArtifactReason): ManifestError => ManifestError.fromReasons("verify artifact", [reason])

/** `~` and `~/...` by the variable HOME; as it stands where there is none. */
const expandHome = Effect.fnUntraced(function* (file: string) {
  if (file !== "~" && !file.startsWith("~/")) return file
  const home = yield* Config.String("HOME").pipe(Config.option, Effect.orElseSucceed(Option.none<string>))
  return Option.match(home, { onNone: () => file, onSome: (directory) => directory + file.slice(1) })
})
