/** How a trial's handle stands in a file: what everybody who may read the file may know, and the secrets as one sealed text. */
import { Option, Redacted, Schema } from "effect"
import type { DirectoryIdentity } from "../DirectoryIdentity.ts"
import type { Identity } from "../Identity.ts"
import { Hex64 } from "../NostrEvent.ts"
import type { TrialHandle } from "../TrialHandle.ts"

const Role = Schema.Literals(["user", "bot"])

const Agent = Schema.Struct({
  agentId: Schema.String,
  kind: Schema.Literals(["orchestrator", "worker"]),
  role: Schema.String,
  endpoint: Schema.String,
  pubkey: Hex64
})

const Entry = Schema.Struct({
  name: Schema.String,
  role: Role,
  identityId: Schema.optionalKey(Schema.String),
  about: Schema.optionalKey(Schema.String),
  isChannelMember: Schema.optionalKey(Schema.Boolean),
  pubkey: Hex64
})

const Fields = Schema.Struct({
  version: Schema.Literal(1),
  runId: Schema.String,
  trialId: Schema.String,
  manifestHash: Schema.String,
  relayUrl: Schema.String,
  userRelayUrl: Schema.optionalKey(Schema.String),
  channelId: Schema.String,
  savedAt: Schema.String,
  note: Schema.optionalKey(Schema.String),
  user: Schema.Struct({ name: Schema.String, pubkey: Hex64 }),
  agents: Schema.Array(Agent),
  directory: Schema.Array(Entry),
  /** Of every key above, by public key. */
  secrets: Schema.String
})

/** The file's text. */
export const SavedFile = Schema.fromJsonString(Fields)
/** What a file says. */
export type SavedFile = typeof Fields.Type

const Secrets = Schema.fromJsonString(
  Schema.Record(Schema.String, Schema.Struct({ secretKey: Hex64, authTag: Schema.optionalKey(Schema.String) }))
)
type Secrets = typeof Secrets.Type

/** The text to seal. */
export const secretsOf = (handle: TrialHandle): string =>
  JSON.stringify(
    Object.fromEntries(
      identitiesOf(handle).map(({ authTag, pubkey, secretKey }) => [
        pubkey,
        {
          secretKey: Redacted.value(secretKey),
          ...(authTag === undefined ? {} : { authTag: Redacted.value(authTag) })
        }
      ])
    )
  )

/** Reads what `secretsOf` wrote. */
export const parseSecrets: (text: string) => Option.Option<Secrets> = Schema.decodeUnknownOption(Secrets)

/** What stands in the file. */
export const fileOf = (
  handle: TrialHandle,
  saved: { readonly note: string | undefined; readonly savedAt: string; readonly secrets: string }
): SavedFile => ({
  version: 1,
  runId: handle.runId,
  trialId: handle.trialId,
  manifestHash: handle.manifestHash,
  relayUrl: handle.relayUrl,
  ...(handle.userRelayUrl === undefined ? {} : { userRelayUrl: handle.userRelayUrl }),
  channelId: handle.channelId,
  savedAt: saved.savedAt,
  ...(saved.note === undefined ? {} : { note: saved.note }),
  user: { name: handle.user.name, pubkey: handle.user.identity.pubkey },
  agents: handle.credentials.map(({ agentId, endpoint, identity, kind, role }) => ({
    agentId,
    kind,
    role,
    endpoint,
    pubkey: identity.pubkey
  })),
  directory: (handle.directory ?? []).map(({ entry, identity }) => ({ ...entry, pubkey: identity.pubkey })),
  secrets: saved.secrets
})

/** The handle again, without API keys; `undefined` when a key of the file is not among the secrets. */
export const handleOf = (saved: SavedFile, secrets: Secrets): TrialHandle | undefined => {
  const identity = (pubkey: string): Identity | undefined => {
    const secret = secrets[pubkey]
    if (secret === undefined) return undefined
    return {
      pubkey,
      secretKey: Redacted.make(secret.secretKey, { label: "secret key" }),
      authTag: secret.authTag === undefined ? undefined : Redacted.make(secret.authTag, { label: "auth tag" })
    }
  }
  const user = identity(saved.user.pubkey)
  const credentials = saved.agents.flatMap(({ pubkey, ...agent }) => {
    const own = identity(pubkey)
    return own === undefined ? [] : [{ ...agent, identity: own, apiKey: undefined }]
  })
  const directory = saved.directory.flatMap(({ pubkey, ...entry }): ReadonlyArray<DirectoryIdentity> => {
    const own = identity(pubkey)
    return own === undefined ? [] : [{ entry, identity: own }]
  })
  const isWhole = credentials.length === saved.agents.length && directory.length === saved.directory.length
  if (user === undefined || !isWhole) return undefined
  const { channelId, manifestHash, relayUrl, runId, trialId, userRelayUrl } = saved
  return {
    runId,
    trialId,
    manifestHash,
    relayUrl,
    userRelayUrl,
    channelId,
    credentials,
    user: { name: saved.user.name, identity: user },
    ...(directory.length === 0 ? {} : { directory })
  }
}

const identitiesOf = ({ credentials, directory = [], user }: TrialHandle): ReadonlyArray<Identity> =>
  [user, ...credentials, ...directory].map(({ identity }) => identity)
