/**
 * The container engine that a `docker` command typed here would use. Loaded only when one is needed: its client is large.
 */
import { ContainerEngine } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import * as ContainerEngineApi from "@buzz-orchestra/runtime/docker/ContainerEngineApi"
import { engineAddress } from "@buzz-orchestra/runtime/docker/EngineAddress"
import { Effect, type FileSystem, Layer, type Path } from "effect"
import { CommandError, EngineUnavailable } from "./CommandError.ts"

/** Connects. Fails at once when nobody answers; `command` is the command that asks, as typed. */
export const layer = (command: string): Layer.Layer<ContainerEngine, CommandError, FileSystem.FileSystem | Path.Path> =>
  Layer.unwrap(Effect.map(engineAddress, ContainerEngineApi.layer)).pipe(
    Layer.catch(({ message }) =>
      Layer.effect(ContainerEngine, new CommandError({ command, reason: new EngineUnavailable({ detail: message }) }))
    )
  )
