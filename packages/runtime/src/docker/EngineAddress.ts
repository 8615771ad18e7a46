/**
 * Reads the operator's choice of container engine from variables, the `docker` program's configuration and its contexts.
 * What they mean is decided by `EngineEndpoint`.
 */
import { Config, Effect, FileSystem, Option, Path, Schema } from "effect"
import { sha256Text } from "../internal/sha256.ts"
import {
  ContextMeta,
  DEFAULT_SOCKET,
  EngineAddressInvalid,
  type EngineEndpoint,
  fromContext,
  fromVariables
} from "./EngineEndpoint.ts"

const optional = (name: string) => Config.String(name).pipe(Config.withDefault(""))

const variables = Config.all({
  DOCKER_HOST: optional("DOCKER_HOST"),
  DOCKER_CONTEXT: optional("DOCKER_CONTEXT"),
  DOCKER_TLS_VERIFY: optional("DOCKER_TLS_VERIFY"),
  DOCKER_CERT_PATH: optional("DOCKER_CERT_PATH"),
  DOCKER_CONFIG: optional("DOCKER_CONFIG"),
  HOME: optional("HOME"),
  XDG_RUNTIME_DIR: optional("XDG_RUNTIME_DIR")
})

const Configuration = Schema.fromJsonString(Schema.Struct({ currentContext: Schema.optionalKey(Schema.String) }))
const Meta = Schema.fromJsonString(ContextMeta)

/**
 * The engine that a `docker` command typed here would use. When nobody chose one and Docker's socket is not there, Podman's
 * is taken. Fails with `EngineAddressInvalid` when a choice cannot be read or understood.
 */
export const engineAddress: Effect.Effect<EngineEndpoint, EngineAddressInvalid, FileSystem.FileSystem | Path.Path> =
  Effect.gen(function* () {
    const path = yield* Path.Path
    // Every variable has a default, so reading them cannot fail.
    const chosen = yield* Effect.orDie(variables)
    const directory = chosen.DOCKER_CONFIG || path.join(chosen.HOME || "/", ".docker")
    const byVariables = yield* Effect.fromResult(fromVariables(chosen, directory))
    if ("_tag" in byVariables) return byVariables
    const context = byVariables.context ?? (yield* currentContext(directory))
    if (context === undefined || context === "default") return yield* defaultSocket(chosen.XDG_RUNTIME_DIR)
    return yield* namedContext(directory, context)
  })

const currentContext = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const source = path.join(directory, "config.json")
  const text = yield* Effect.option(fs.readFileString(source))
  if (Option.isNone(text)) return undefined
  const configuration = yield* Schema.decodeEffect(Configuration)(text.value).pipe(
    Effect.mapError((cause) => new EngineAddressInvalid({ source, detail: `cannot be read: ${cause.message}` }))
  )
  return configuration.currentContext
})

/** Contexts lie in directories named by the sha256 of their names. */
const namedContext = Effect.fnUntraced(function* (directory: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const id = sha256Text(name)
  const source = path.join(directory, "contexts", "meta", id, "meta.json")
  const meta = yield* fs.readFileString(source).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Meta)),
    Effect.mapError(
      (cause) => new EngineAddressInvalid({ source: `context "${name}"`, detail: `cannot be read: ${cause.message}` })
    )
  )
  const tls = path.join(directory, "contexts", "tls", id, "docker")
  const hasTls = yield* Effect.orElseSucceed(fs.exists(tls), () => false)
  return yield* Effect.fromResult(fromContext(meta, hasTls ? tls : undefined))
})

const defaultSocket = Effect.fnUntraced(function* (runtimeDirectory: string) {
  const fs = yield* FileSystem.FileSystem
  const sockets = [
    DEFAULT_SOCKET,
    ...(runtimeDirectory === "" ? [] : [`${runtimeDirectory}/podman/podman.sock`]),
    "/run/podman/podman.sock"
  ]
  for (const path of sockets) {
    if (yield* Effect.orElseSucceed(fs.exists(path), () => false)) return { _tag: "Unix" as const, path }
  }
  return { _tag: "Unix" as const, path: DEFAULT_SOCKET }
})
