/**
 * Needs `node:sqlite`. A relay's data in a directory: one SQLite database in WAL mode. A commit is one transaction that is in
 * the operating system's hands when it returns, so it outlives a killed process; a machine that loses its power may lose the
 * last ones, never half of one.
 */
import { DatabaseSync, type StatementSync } from "node:sqlite"
import { Effect, FileSystem, Layer, Path, Redacted, Result, Schema, type Scope } from "effect"
import { NostrEvent } from "../NostrEvent.ts"
import type * as Channel from "./Channel.ts"
import type { StoredEvent } from "./EventStore.ts"
import { ROLES } from "./RelayMembers.ts"
import { type Change, RelayStore, RelayStoreError, type Snapshot } from "./RelayStore.ts"

/** The database's name in the directory. SQLite keeps `-wal` and `-shm` beside it. */
export const FILE_NAME = "relay.db"

/** Written into the database; another number is another program's or another version's. */
const SCHEMA_VERSION = 1

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS events (
    id TEXT PRIMARY KEY, event TEXT NOT NULL, channel TEXT, root TEXT, parent TEXT, depth INTEGER
  ) STRICT;
  CREATE TABLE IF NOT EXISTS gone (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS channels (id TEXT PRIMARY KEY, channel TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS owners (agent TEXT PRIMARY KEY, owner TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS members (pubkey TEXT PRIMARY KEY, role TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS relay_key (one INTEGER PRIMARY KEY CHECK (one = 1), secret TEXT NOT NULL) STRICT;
`

/**
 * Opens the directory's database, made when missing, for this process alone. The scope owns it. The directory and the
 * database are their owner's: the relay's key lies there.
 */
export const layer = (directory: string): Layer.Layer<RelayStore, RelayStoreError, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    RelayStore,
    Effect.gen(function* () {
      const database = yield* open(directory)
      const statements = prepare(database)
      return RelayStore.of({
        load: Effect.try({
          try: () => read(database),
          catch: (cause) => failure(directory, "read", cause)
        }),
        commit: (changes) =>
          Result.try({
            try: () => write(database, statements, changes),
            catch: (cause) => failure(directory, "write", cause)
          })
      })
    })
  )

const open = Effect.fnUntraced(function* (
  directory: string
): Effect.fn.Return<DatabaseSync, RelayStoreError, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(directory, FILE_NAME)
  yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 }).pipe(
    // SQLite gives its other files the mode of this one.
    Effect.andThen(fs.open(file, { flag: "a", mode: 0o600 })),
    Effect.scoped,
    Effect.mapError((cause) => failure(directory, "open", cause))
  )
  return yield* Effect.acquireRelease(
    Effect.try({ try: () => connect(file), catch: (cause) => failure(directory, "open", cause) }),
    (database) => Effect.sync(() => database.close())
  )
})

const connect = (file: string): DatabaseSync => {
  const database = new DatabaseSync(file)
  try {
    // The lock is taken by the first write and kept: two relays over one database would each know half.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    const version = database.prepare("PRAGMA user_version").get()?.["user_version"]
    if (version !== 0 && version !== SCHEMA_VERSION)
      throw new Error(`the database has version ${version}, this relay reads version ${SCHEMA_VERSION}`)
    database.exec(`BEGIN IMMEDIATE; ${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`)
    return database
  } catch (cause) {
    database.close()
    throw cause
  }
}

const SQLITE_BUSY = 5

const failure = (directory: string, operation: RelayStoreError["operation"], cause: unknown): RelayStoreError => {
  const code = cause instanceof Error && "errcode" in cause ? cause.errcode : undefined
  const detail = code === SQLITE_BUSY ? "another relay uses it" : cause instanceof Error ? cause.message : String(cause)
  return new RelayStoreError({ directory, operation, detail, cause })
}

const prepare = (database: DatabaseSync) => ({
  stored: database.prepare("INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?)"),
  removed: database.prepare("DELETE FROM events WHERE id = ?"),
  gone: database.prepare("INSERT OR IGNORE INTO gone VALUES (?)"),
  channel: database.prepare("INSERT OR REPLACE INTO channels VALUES (?, ?)"),
  owner: database.prepare("INSERT OR REPLACE INTO owners VALUES (?, ?)"),
  member: database.prepare("INSERT OR REPLACE INTO members VALUES (?, ?)"),
  noMember: database.prepare("DELETE FROM members WHERE pubkey = ?"),
  relayKey: database.prepare("INSERT OR REPLACE INTO relay_key VALUES (1, ?)")
})

type Statements = Readonly<Record<keyof ReturnType<typeof prepare>, StatementSync>>

const write = (database: DatabaseSync, statements: Statements, changes: ReadonlyArray<Change>): void => {
  database.exec("BEGIN IMMEDIATE")
  try {
    for (const change of changes) apply(statements, change)
    database.exec("COMMIT")
  } catch (cause) {
    // SQLite has rolled back by itself where the disk is full.
    if (database.isTransaction) database.exec("ROLLBACK")
    throw cause
  }
}

const apply = (statements: Statements, change: Change): void => {
  switch (change._tag) {
    case "Stored": {
      const { channelId, event, thread } = change.stored
      const position = [thread?.rootId ?? null, thread?.parentId ?? null, thread?.depth ?? null]
      return void statements.stored.run(event.id, JSON.stringify(event), channelId ?? null, ...position)
    }
    case "Removed":
      statements.removed.run(change.id)
      return void statements.gone.run(change.id)
    case "Channel": {
      const { channel } = change
      const members = [...channel.members]
      return void statements.channel.run(channel.id, JSON.stringify({ ...channel, members }))
    }
    case "Owner":
      return void statements.owner.run(change.agent, change.owner)
    case "Member":
      return void (change.role === undefined
        ? statements.noMember.run(change.pubkey)
        : statements.member.run(change.pubkey, change.role))
    case "RelayKey":
      return void statements.relayKey.run(Redacted.value(change.secretKey))
  }
}

const ChannelRow = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.String,
    name: Schema.String,
    about: Schema.String,
    topic: Schema.String,
    purpose: Schema.String,
    visibility: Schema.Literals(["open", "private"]),
    type: Schema.Literals(["stream", "forum"]),
    ttlSeconds: Schema.optional(Schema.Int),
    archived: Schema.Boolean,
    deleted: Schema.Boolean,
    members: Schema.Array(Schema.Tuple([Schema.String, Schema.Literals(["owner", "admin", "member", "guest", "bot"])]))
  })
)

const EventRow = Schema.Struct({
  event: Schema.fromJsonString(NostrEvent),
  channel: Schema.NullOr(Schema.String),
  root: Schema.NullOr(Schema.String),
  parent: Schema.NullOr(Schema.String),
  depth: Schema.NullOr(Schema.Int)
})

/** A damaged database shows here, and not in the answers of a relay that runs. */
const decode = {
  event: Schema.decodeUnknownSync(EventRow),
  id: Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String })),
  channel: Schema.decodeUnknownSync(Schema.Struct({ channel: ChannelRow })),
  owner: Schema.decodeUnknownSync(Schema.Struct({ agent: Schema.String, owner: Schema.String })),
  member: Schema.decodeUnknownSync(Schema.Struct({ pubkey: Schema.String, role: Schema.Literals(ROLES) })),
  relayKey: Schema.decodeUnknownSync(Schema.Struct({ secret: Schema.RedactedFromValue(Schema.String) }))
}

const read = (database: DatabaseSync): Snapshot => {
  const all = <A>(table: string, row: (value: unknown) => A): ReadonlyArray<A> =>
    database.prepare(`SELECT * FROM ${table} ORDER BY rowid`).all().map(row)
  const gone = database.prepare("SELECT id FROM gone").all()
  return {
    events: all("events", (row) => stored(decode.event(row))),
    gone: gone.map((row) => decode.id(row).id),
    channels: all("channels", (row) => channel(decode.channel(row).channel)),
    owners: all("owners", (row) => {
      const { agent, owner } = decode.owner(row)
      return [agent, owner] as const
    }),
    members: all("members", (row) => {
      const { pubkey, role } = decode.member(row)
      return [pubkey, role] as const
    }),
    relayKey: all("relay_key", decode.relayKey)[0]?.secret
  }
}

const stored = (row: typeof EventRow.Type): StoredEvent => ({
  event: row.event,
  channelId: row.channel ?? undefined,
  thread:
    row.root === null || row.parent === null || row.depth === null
      ? undefined
      : { rootId: row.root, parentId: row.parent, depth: row.depth }
})

const channel = (row: typeof ChannelRow.Type): Channel.Channel => ({
  ...row,
  ttlSeconds: row.ttlSeconds,
  members: new Map(row.members)
})
