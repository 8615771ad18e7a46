/**
 * Valid manifests for tests, and the service without files.
 */
import { Effect, FileSystem, Layer, Path, PlatformError, Result, Stream } from "effect"
import * as Condition from "../Condition.ts"
import * as DecodedDocument from "../DecodedDocument.ts"
import type { Dialect } from "../Dialect.ts"
import { ManifestError, type ManifestReason } from "../ManifestError.ts"
import { ManifestService } from "../ManifestService.ts"
import { sha256 } from "../Sha256.ts"

/** One class of the roster as a test writes it; everything has a default but the id. */
export interface ClassFields {
  readonly id: string
  /** Default: `orchestrator` for the first class, `worker` for the others. */
  readonly kind?: "orchestrator" | "worker"
  /** Default: the id. */
  readonly role?: string
  /** Default: 1. */
  readonly count?: number
  /** Default: `test-model`. */
  readonly endpoint?: string
  /** Any further fields, such as `generation` or `budget`. */
  readonly [field: string]: unknown
}

/** What a test changes of the manifest: the classes, and top-level fields that replace the default ones. */
export interface ManifestFields {
  /** Default: one class, `lead`. */
  readonly roster?: ReadonlyArray<ClassFields>
  /** Any further fields, such as `condition`, `trial_budget` or `metadata`. */
  readonly [field: string]: unknown
}

/** The text of every prompt that these manifests pin, at the path `prompt.md`. */
export const PROMPT_TEXT = "You are part of a team.\n"

const PROMPT = { path: "prompt.md", sha256: sha256(PROMPT_TEXT) }

/**
 * A valid manifest of the trunk dialect as a decoded value, to be loaded as it is or after a change. Every endpoint of
 * the roster has a price; the prompt is `PROMPT_TEXT`.
 */
export const manifestWith = ({ roster = [{ id: "lead" }], ...fields }: ManifestFields = {}) => {
  const classes = roster.map((entry, index) => ({
    kind: index === 0 ? "orchestrator" : "worker",
    role: entry.id,
    count: 1,
    endpoint: "test-model",
    model_revision: "test-1",
    prompt: PROMPT,
    generation: { max_output_tokens: 4096, context_window_tokens: 200_000 },
    ...entry
  }))
  return {
    schema_version: "1",
    condition: "test",
    roster: classes,
    prices: Object.fromEntries(classes.map(({ endpoint }) => [endpoint, PRICE])),
    trial_budget: { timeout_seconds: 60 },
    ...fields
  }
}

const PRICE = { input_per_million_usd: 3, cached_input_per_million_usd: 0.3, output_per_million_usd: 15 }

/** The condition of `manifestWith(fields)`. Throws the `ManifestError` when the fields make no valid manifest. */
export const conditionWith = (fields?: ManifestFields, dialect?: Dialect): Condition.Condition =>
  Result.getOrThrowWith(
    Result.flatMap(
      DecodedDocument.fromValue(manifestWith(fields)),
      (document): Result.Result<Condition.Condition, ReadonlyArray<ManifestReason>> =>
        Condition.fromDocument(document, dialect)
    ),
    (reasons) => ManifestError.fromReasons("load", reasons)
  )

/** The real service over files in memory: `files` maps absolute paths to their text; no other path can be read. */
export const layerMemory = (files: { readonly [path: string]: string } = {}): Layer.Layer<ManifestService> => {
  const readFile = (path: string) =>
    Object.hasOwn(files, path)
      ? Effect.succeed(new TextEncoder().encode(files[path]))
      : Effect.fail(
          PlatformError.systemError({
            _tag: "NotFound",
            module: "FileSystem",
            method: "readFile",
            pathOrDescriptor: path
          })
        )
  const fileSystem = FileSystem.layerNoop({ readFile, stream: (path) => Stream.fromEffect(readFile(path)) })
  return ManifestService.layer.pipe(Layer.provide([fileSystem, Path.layer]))
}
