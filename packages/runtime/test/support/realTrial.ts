/**
 * A trial with real processes in the sandbox and a real relay; the agents are the scripts of `fixtures/stack`.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as NodeWS from "@effect/platform-node/NodeWS"
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import { conditionWith, PROMPT_TEXT } from "@buzz-orchestra/manifest/testing/TestManifest"
import { BuzzClient } from "@buzz-orchestra/relay/BuzzClient"
import * as BuzzClientNative from "@buzz-orchestra/relay/BuzzClientNative"
import * as RelayObserverLive from "@buzz-orchestra/relay/RelayObserverLive"
import * as SchnorrWasm from "@buzz-orchestra/relay/SchnorrWasm"
import { EmbeddedRelay } from "@buzz-orchestra/relay/server/EmbeddedRelay"
import type { TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { TrialHandleStore } from "@buzz-orchestra/relay/TrialHandleStore"
import { TrialProvisioner } from "@buzz-orchestra/relay/TrialProvisioner"
import * as TrialProvisionerLive from "@buzz-orchestra/relay/TrialProvisionerLive"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import { fromDirectory } from "@buzz-orchestra/runtime/StackFiles"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import * as TrialServices from "@buzz-orchestra/runtime/TrialServices"
import { Context, Deferred, Effect, FileSystem, Layer, Path } from "effect"
import { FetchHttpClient } from "effect/http"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"

const STACK = fileURLToPath(new URL("../fixtures/stack", import.meta.url))

/** The handle of the trial, so that a test can speak as an agent whose stand-in cannot. */
export class ProvisionedHandle extends Context.Service<ProvisionedHandle, Deferred.Deferred<TrialHandle>>()(
  "test/ProvisionedHandle"
) {}

const platform = Layer.mergeAll(
  NodeServices.layer,
  FetchHttpClient.layer,
  NodeWS.layerWebSocketConstructor,
  NodeCrypto.layerSecureRandom,
  SchnorrWasm.layer
)

const provisioner = Layer.effect(
  TrialProvisioner,
  Effect.gen(function* () {
    const inner = yield* TrialProvisioner
    const provisioned = yield* ProvisionedHandle
    return TrialProvisioner.of({
      ...inner,
      create: (request) => Effect.tap(inner.create(request), (handle) => Deferred.succeed(provisioned, handle))
    })
  })
).pipe(Layer.provide(TrialProvisionerLive.layer), Layer.provide(TrialHandleStore.layerMemory))

type Platform = Layer.Success<typeof platform>

/** Everything around a trial but its events, with real processes: an environment and the relay. */
export const realWorldIn = <E>(environment: Layer.Layer<EnvironmentService, E, Platform>) =>
  Layer.mergeAll(environment, provisioner, RelayObserverLive.layer, ManifestService.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(BuzzClientNative.layer, Layer.effect(ProvisionedHandle, Deferred.make()))),
    Layer.provideMerge(
      EmbeddedRelay.layer().pipe(
        Layer.provide(NodeHttpServer.layerServer(createServer, { port: 0, host: "127.0.0.1" }))
      )
    ),
    Layer.provideMerge(platform)
  )

/** The same with the sandbox. */
export const realWorldLayer = (environment: LocalEnvironment.LocalEnvironmentOptions = {}) =>
  realWorldIn(LocalEnvironment.layer(environment))

/** Everything of a trial, and the sandbox it runs in. */
export const realTrialLayer = TrialServices.layerRuntime.pipe(Layer.provideMerge(realWorldLayer()))

/** A lead and two workers, on the relay of the layer. The scope removes the trial directory. */
export const realTrialOptions = Effect.fnUntraced(function* (fields: Partial<TrialOptions> = {}) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { url } = yield* EmbeddedRelay
  const root = yield* fs.makeTempDirectoryScoped({ prefix: "buzz-trial-" })
  yield* fs.writeFileString(path.join(root, "prompt.md"), PROMPT_TEXT)
  const options: TrialOptions = {
    condition: conditionWith({ roster: [{ id: "lead" }, { id: "worker", count: 2 }] }),
    artifactRoot: root,
    endpoints: { "test-model": { provider: "scripted", api_key_env: "TEST_API_KEY" } },
    apiKeys: { "test-model": undefined },
    instruction: "do nothing",
    runId: "run",
    trialId: "11111111-2222-4333-8444-555555555555",
    relayUrl: url,
    stack: yield* fromDirectory(STACK),
    directory: path.join(root, "trial"),
    ...fields
  }
  return options
})

/** The lead says something, over the relay. */
export const leadSays = Effect.fnUntraced(function* (content: string) {
  const client = yield* BuzzClient
  const handle = yield* Deferred.await(yield* ProvisionedHandle)
  const [lead] = handle.credentials
  if (lead === undefined) return yield* Effect.die(new Error("the trial has no lead"))
  const actor = { relayUrl: handle.relayUrl, identity: lead.identity }
  yield* client.send(actor, { channelId: handle.channelId, content })
})

/** Runs a command in the sandbox and returns what it printed. */
export const inside = (command: string) =>
  EnvironmentService.use(({ exec }) => Effect.map(exec(command), ({ stdout }) => stdout))

/** Command lines of the sandbox in which a text stands. */
export const processesWith = (text: string) =>
  inside(`for p in /proc/[0-9]*; do tr '\\0' ' ' <"$p/cmdline" 2>/dev/null && echo; done; :`).pipe(
    Effect.map((lines) => lines.split("\n").filter((line) => line.includes(text)))
  )
