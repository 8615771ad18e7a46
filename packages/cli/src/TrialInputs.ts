/**
 * From a request to everything a trial is run with. Reads every file and variable that the request names, and refuses
 * before anything is started: no relay, no sandbox, no process.
 */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import type { Condition } from "@buzz-orchestra/manifest/Condition"
import type { EndpointLaunchConfig } from "@buzz-orchestra/manifest/EndpointLaunchConfig"
import type { ManifestError } from "@buzz-orchestra/manifest/ManifestError"
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import * as Identity from "@buzz-orchestra/relay/Identity"
import type { Schnorr } from "@buzz-orchestra/relay/Schnorr"
import * as StackFiles from "@buzz-orchestra/runtime/StackFiles"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import { Array, Clock, Duration, Effect, FileSystem, Path, Redacted } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import {
  ApiKeyVariablesMissing,
  CommandError,
  type CommandReason,
  DirectoryNotEmpty,
  InstructionUnreadable,
  SecretVariableInvalid,
  SecretVariableMissing,
  StackDirectoryMissing,
  UploadMissing
} from "./CommandError.ts"
import * as Fixtures from "./Fixtures.ts"
import { secretVariable } from "./internal/secretVariable.ts"
import * as ReferenceStackFiles from "./ReferenceStackFiles.ts"
import { compactTime, defaultDirectory, REFERENCE_STACK, type TrialRequest } from "./TrialRequest.ts"

/** The options, but for the relay, which is not started yet. */
export interface TrialInputs {
  readonly condition: Condition
  readonly options: Omit<TrialOptions, "relayUrl" | "userRelayUrl">
  /** The trial directory as a person may type it. */
  readonly directory: string
  /** Every secret that was read, for taking them out of what is printed. */
  readonly secrets: ReadonlyArray<Redacted.Redacted<string>>
  /** Whether the programs are scripts that need a Node in the environment. */
  readonly needsNode: boolean
}

type Needs = ManifestService | FileSystem.FileSystem | Path.Path | ChildProcessSpawner.ChildProcessSpawner | Schnorr

/** Reads what `request` names. `node` is this process's own Node, which builds the reference stack. */
export const read = Effect.fn("TrialInputs.read")(function* (
  request: TrialRequest,
  node: string
): Effect.fn.Return<TrialInputs, CommandError | ManifestError, Needs> {
  const manifests = yield* ManifestService
  const path = yield* Path.Path
  const now = yield* Clock.currentTimeMillis
  const reason = Effect.mapError((reason: CommandReason) => new CommandError({ command: request.command, reason }))

  const condition = yield* manifests.load(request.manifest)
  const endpoints = yield* manifests.loadEndpoints(request.endpoints, condition.manifest)
  const apiKeys = yield* readApiKeys(request, endpoints).pipe(reason)
  const instruction = yield* readInstruction(request).pipe(reason)
  const fixture = request.fixture === undefined ? undefined : yield* manifests.loadFixture(request.fixture)
  const ownerKey = yield* readSecret("--owner-key-env", request.ownerKeyVariable).pipe(reason)
  const userKey = yield* readSecret("--user-key-env", request.userKeyVariable).pipe(reason)
  const named = yield* parseKey("--owner-key-env", request.ownerKeyVariable, ownerKey).pipe(reason)
  const owner =
    named ?? (yield* Fixtures.owner(fixture, request.relay).pipe(reason, Effect.provide(NodeCrypto.layerSecureRandom)))
  const user = yield* parseKey("--user-key-env", request.userKeyVariable, userKey).pipe(reason)
  yield* checkUploads(request).pipe(reason)
  const directory = request.out ?? defaultDirectory(condition.manifest.condition, now)
  yield* checkDirectory(directory).pipe(reason)
  const stack = yield* locateStack(request, node)

  const options: TrialInputs["options"] = {
    condition,
    artifactRoot: path.resolve(request.artifactRoot ?? condition.directory ?? "."),
    endpoints,
    apiKeys,
    instruction,
    runId: request.runId ?? `cli-${compactTime(now)}`,
    trialId: path.basename(path.resolve(directory)),
    stack,
    directory: path.resolve(directory),
    uploads: request.uploads.map(({ source, target }) => ({ source: path.resolve(source), target })),
    sweep: request.sweep,
    ...settingsOf(request),
    ...(fixture === undefined ? {} : { fixture: Fixtures.toTaskFixture(fixture) }),
    ...(owner === undefined ? {} : { ownerKey: owner.secretKey }),
    ...(user === undefined ? {} : { user: { name: "user", identity: user } })
  }
  const secrets = [...Object.values(apiKeys), ownerKey, owner?.secretKey, userKey].filter(
    (secret) => secret !== undefined
  )
  return { condition, options, directory, secrets, needsNode: request.stack === REFERENCE_STACK }
})

/** What the runtime has a default for. */
const settingsOf = (request: TrialRequest): Partial<TrialOptions> => ({
  ...(request.agentUsers === undefined ? {} : { agentUsers: request.agentUsers }),
  ...(request.evidenceFor === undefined ? {} : { evidenceFor: request.evidenceFor }),
  ...(request.channelLabel === undefined ? {} : { channelLabel: request.channelLabel }),
  ...(request.maxAgentRounds === undefined ? {} : { maxAgentRounds: request.maxAgentRounds }),
  ...(request.agentLog === undefined ? {} : { operatorRustLog: request.agentLog }),
  ...(request.relayGateway === undefined ? {} : { relayGateway: request.relayGateway }),
  ...(request.readinessSeconds === undefined ? {} : { readinessTimeout: Duration.seconds(request.readinessSeconds) }),
  ...(request.settleSeconds === undefined ? {} : { settleTimeout: Duration.seconds(request.settleSeconds) })
})

/** Every key, or an error that names every variable that is missing. */
const readApiKeys = Effect.fnUntraced(function* (request: TrialRequest, endpoints: EndpointLaunchConfig) {
  const found = yield* Effect.forEach(Object.entries(endpoints), ([endpoint, { api_key_env: variable }]) =>
    Effect.map(readVariable(variable, request.knownKeys), (key) => ({ endpoint, variable, key }))
  )
  const missing = found.filter(({ key }) => key === undefined).map(({ endpoint, variable }) => ({ endpoint, variable }))
  if (Array.isArrayNonEmpty(missing))
    return yield* new ApiKeyVariablesMissing({ endpointsFile: request.endpoints, missing })
  return Object.fromEntries(found.map(({ endpoint, key }) => [endpoint, key]))
})

/** An empty variable is as good as none. */
const readVariable = (
  name: string,
  known?: Readonly<Record<string, string>>
): Effect.Effect<Redacted.Redacted<string> | undefined> =>
  known?.[name] === undefined ? secretVariable(name) : Effect.succeed(Redacted.make(known[name], { label: name }))

const readSecret = Effect.fnUntraced(function* (flag: string, variable: string | undefined) {
  if (variable === undefined) return undefined
  const value = yield* readVariable(variable)
  return value === undefined ? yield* new SecretVariableMissing({ flag, variable }) : value
})

const parseKey = Effect.fnUntraced(function* (
  flag: string,
  variable: string | undefined,
  secret: Redacted.Redacted<string> | undefined
) {
  if (secret === undefined || variable === undefined) return undefined
  return yield* Effect.mapError(Identity.parse(secret), ({ reason }) => {
    const expected = reason._tag === "KeyInvalid" ? reason.expected : "a key"
    return new SecretVariableInvalid({ flag, variable, expected })
  })
})

const readInstruction = Effect.fnUntraced(function* ({ instruction }: TrialRequest) {
  if ("text" in instruction) return instruction.text
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(
    fs.readFileString(instruction.file),
    (cause) => new InstructionUnreadable({ file: instruction.file, cause })
  )
})

const checkUploads = Effect.fnUntraced(function* ({ uploads }: TrialRequest) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.forEach(uploads, ({ source }) =>
    Effect.mapError(fs.access(source, { readable: true }), () => new UploadMissing({ source }))
  )
})

const checkDirectory = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const entries = yield* Effect.orElseSucceed(fs.readDirectory(directory), () => [])
  if (entries.length > 0) return yield* new DirectoryNotEmpty({ directory })
})

const locateStack = Effect.fnUntraced(function* (request: TrialRequest, node: string) {
  if (request.stack === REFERENCE_STACK) {
    return yield* Effect.flatMap(ReferenceStackFiles.locate(node, request.command), StackFiles.fromDirectory)
  }
  const fs = yield* FileSystem.FileSystem
  const exists = yield* Effect.orElseSucceed(fs.exists(request.stack), () => false)
  if (exists) return yield* StackFiles.fromDirectory(request.stack)
  return yield* new CommandError({
    command: request.command,
    reason: new StackDirectoryMissing({ directory: request.stack })
  })
})
