/**
 * From a handle and a prepared trial to what each agent is launched with.
 */
import { ManifestService } from "@buzz-orchestra/manifest/ManifestService"
import type { AgentClass } from "@buzz-orchestra/manifest/ExperimentManifest"
import type { AgentCredential, TrialHandle } from "@buzz-orchestra/relay/TrialHandle"
import { Effect, type Redacted, Result } from "effect"
import type { AgentLaunch } from "../AgentSupervisor.ts"
import type { AgentUser } from "../AgentUsers.ts"
import { inBundle, promptName } from "../BundleFiles.ts"
import { EnvironmentService } from "../EnvironmentService.ts"
import { launchEnvironment } from "../LaunchEnvironment.ts"
import { inPhase, TrialDirectoryUnwritable } from "../RuntimeLaunchError.ts"
import type { InstalledStack } from "../StackInstaller.ts"
import { composeSystemPrompt } from "../SystemPrompt.ts"
import type { TrialDirectory } from "../TrialDirectory.ts"
import type { TrialOptions } from "../TrialOptions.ts"
import type { PreparedTrial } from "../TrialPreparation.ts"
import { ofCredentials } from "./foreignReason.ts"

/** One agent with its place in the roster and its prompt. */
export interface Member {
  readonly credential: AgentCredential
  readonly agentClass: AgentClass
  readonly systemPrompt: string
}

/** Every agent of the handle, its prompt written to the trial directory. Fails when the credentials do not fit the roster. */
export const composeMembers = Effect.fnUntraced(function* (
  { options, personas }: PreparedTrial,
  handle: TrialHandle,
  directory: TrialDirectory
) {
  const manifests = yield* ManifestService
  const { manifest } = options.condition
  const classes = yield* manifests.classesByAgentId(manifest, handle.credentials).pipe(
    Effect.catchTag("ManifestError", (error) => {
      const classIds = manifest.roster.map(({ id }) => id)
      const reason = ofCredentials(error.reason, classIds)
      // The service maps credentials and meets nothing else.
      return reason === undefined ? Effect.die(error) : Effect.fail(inPhase("prepare")(reason, error))
    })
  )
  return yield* Effect.forEach(
    handle.credentials,
    Effect.fnUntraced(function* (credential) {
      const agentClass = classes.get(credential.agentId)
      // Every credential has its class, or the mapping would have failed.
      if (agentClass === undefined) return yield* Effect.die(new Error(`no class for ${credential.agentId}`))
      const systemPrompt = composeSystemPrompt({ persona: personas.get(agentClass.id) ?? "", credential, handle })
      yield* Effect.mapError(
        directory.write(inBundle(promptName(credential.agentId)), systemPrompt, { mode: 0o600 }),
        ({ message }) => inPhase("prepare")(new TrialDirectoryUnwritable({ path: directory.path, detail: message }))
      )
      const member: Member = { credential, agentClass, systemPrompt }
      return member
    })
  )
})

/** What `buzz-acp` is launched with for each member. All are composed before any is launched. */
export const composeLaunches = Effect.fnUntraced(function* (
  trial: PreparedTrial,
  handle: TrialHandle,
  stack: InstalledStack,
  members: ReadonlyArray<Member>,
  users: ReadonlyMap<string, AgentUser>
) {
  const { exec, facts } = yield* EnvironmentService
  const { stdout } = yield* Effect.mapError(exec(`printf %s "\${NO_PROXY-}"`), (error) => inPhase("launch")(error))
  const { condition, endpoints, operatorRustLog } = trial.options
  return yield* Effect.forEach(members, ({ agentClass, credential, systemPrompt }) => {
    const { agentId } = credential
    const own = users.get(agentId)
    const promptPath = `${stack.layout.prompts}/${promptName(agentId)}`
    const env = launchEnvironment({
      dialect: condition.dialect,
      agentClass,
      credential,
      handle,
      endpoints,
      layout: stack.layout,
      facts: own === undefined ? facts : { homeDirectory: own.home },
      trialTimeoutSeconds: condition.manifest.trial_budget.timeout_seconds,
      defaultMaxRounds: trial.maxAgentRounds,
      promptPath,
      operatorRustLog,
      inheritedNoProxy: stdout === "" ? undefined : stdout
    })
    const launch = Result.map(env, (env): AgentLaunch => ({
      agentId,
      env,
      systemPrompt,
      promptPath,
      ...(own === undefined ? {} : { own })
    }))
    return Effect.fromResult(Result.mapError(launch, (reason) => inPhase("launch")(reason)))
  })
})

/** Everything that must not reach a file, an error or a person; before provisioning, what was brought along. */
export const secretsOf = (
  handle: TrialHandle | undefined,
  options: Pick<TrialOptions, "apiKeys" | "ownerKey" | "user">
): ReadonlyArray<Redacted.Redacted<string>> =>
  [
    ...(handle === undefined
      ? [options.user?.identity]
      : [
          handle.user.identity,
          ...handle.credentials.map(({ identity }) => identity),
          ...(handle.directory ?? []).map(({ identity }) => identity)
        ]
    ).flatMap((identity) => [identity?.secretKey, identity?.authTag]),
    ...(handle?.credentials ?? []).map(({ apiKey }) => apiKey),
    ...Object.values(options.apiKeys),
    options.ownerKey
  ].filter((secret) => secret !== undefined)
