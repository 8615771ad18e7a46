/**
 * What a relay keeps beyond its own life: the contract, and the layer that keeps it in memory. `SqliteRelayStore` keeps it
 * on disk.
 */
import { Context, Effect, Layer, type Redacted, Result, Schema } from "effect"
import type * as Channel from "./Channel.ts"
import type { StoredEvent } from "./EventStore.ts"
import type { Role } from "./RelayMembers.ts"

/** One thing that changed in what a relay keeps. */
export type Change =
  | { readonly _tag: "Stored"; readonly stored: StoredEvent }
  /** An event that was deleted or replaced. It never comes back. */
  | { readonly _tag: "Removed"; readonly id: string }
  /** A channel as it is now. */
  | { readonly _tag: "Channel"; readonly channel: Channel.Channel }
  /** Who attested an agent. */
  | { readonly _tag: "Owner"; readonly agent: string; readonly owner: string }
  /** What a key is in a closed relay now; nothing when it is no member any more. */
  | { readonly _tag: "Member"; readonly pubkey: string; readonly role: Role | undefined }
  /** The key with which the relay signs, 64 hex. */
  | { readonly _tag: "RelayKey"; readonly secretKey: Redacted.Redacted<string> }

/** Everything that is kept. */
export interface Snapshot {
  readonly events: ReadonlyArray<StoredEvent>
  /** Ids of events that were removed. */
  readonly gone: ReadonlyArray<string>
  readonly channels: ReadonlyArray<Channel.Channel>
  readonly owners: ReadonlyArray<readonly [agent: string, owner: string]>
  readonly members: ReadonlyArray<readonly [pubkey: string, role: Role]>
  readonly relayKey: Redacted.Redacted<string> | undefined
}

/** The place where a relay keeps its data cannot be used. */
export class RelayStoreError extends Schema.TaggedError<RelayStoreError>()("RelayStoreError", {
  /** The directory. */
  directory: Schema.String,
  /** What was tried: `open`, `read` or `write`. */
  operation: Schema.Literals(["open", "read", "write"]),
  /** What went wrong, in words. */
  detail: Schema.String,
  cause: Schema.optional(Schema.Defect())
}) {
  override get message() {
    return `the relay's data in ${this.directory} cannot be used (${this.operation}): ${this.detail}`
  }
}

/** Keeps what a relay must know after its restart. One relay uses a store at a time. */
export class RelayStore extends Context.Service<
  RelayStore,
  {
    /** All that was committed. */
    readonly load: Effect.Effect<Snapshot, RelayStoreError>
    /**
     * Keeps these changes, all or none, in their order, before it returns: what a relay has acknowledged survives the end of
     * its process. Synchronous, so that nothing happens between a decision and its record.
     */
    commit(changes: ReadonlyArray<Change>): Result.Result<void, RelayStoreError>
  }
>()("@buzz-orchestra/relay/server/RelayStore") {
  /** Kept as long as the layer: a relay that is built over it again finds everything. */
  static readonly layerMemory: Layer.Layer<RelayStore> = Layer.sync(RelayStore, () => {
    const kept = { events: new Map<string, StoredEvent>(), gone: new Set<string>() }
    const channels = new Map<string, Channel.Channel>()
    const owners = new Map<string, string>()
    const members = new Map<string, Role>()
    let relayKey: Redacted.Redacted<string> | undefined
    const apply = (change: Change): void => {
      switch (change._tag) {
        case "Stored":
          return void kept.events.set(change.stored.event.id, change.stored)
        case "Removed":
          kept.events.delete(change.id)
          return void kept.gone.add(change.id)
        case "Channel":
          return void channels.set(change.channel.id, change.channel)
        case "Owner":
          return void owners.set(change.agent, change.owner)
        case "Member":
          return void (change.role === undefined
            ? members.delete(change.pubkey)
            : members.set(change.pubkey, change.role))
        case "RelayKey":
          return void (relayKey = change.secretKey)
      }
    }
    return RelayStore.of({
      load: Effect.sync(() => ({
        events: [...kept.events.values()],
        gone: [...kept.gone],
        channels: [...channels.values()],
        owners: [...owners],
        members: [...members],
        relayKey
      })),
      commit: (changes) => {
        changes.forEach(apply)
        return Result.void
      }
    })
  })
}
