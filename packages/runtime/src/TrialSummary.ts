/**
 * `summary.json`: what became of a trial, in one document. Spelled as on disk, so that readers of other tools find the
 * fields under the names they know. Times are ISO 8601 in UTC, durations are in seconds.
 */
import { Schema } from "effect"
import { Accounting, Totals } from "./Accounting.ts"
import { AGENT_USERS } from "./AgentUsers.ts"
import { Measurement } from "./Receipt.ts"
import { SecretScan } from "./SecretScan.ts"
import { OUTCOMES, PHASES } from "./TrialEvent.ts"
import { Unenforced } from "./Unenforced.ts"
import { VERDICTS } from "./Verdict.ts"

const Tokens = Schema.NullOr(Schema.Int)

/**
 * One agent at the end of the trial. Token counts and the cost are null when they are unknown, which is not zero; of one that
 * never took a turn they are zero.
 */
export const AgentSummary = Schema.Struct({
  agent_id: Schema.String,
  kind: Schema.Literals(["orchestrator", "worker"]),
  role: Schema.String,
  endpoint: Schema.String,
  pubkey: Schema.String,
  /** File name of the composed prompt in the bundle. */
  system_prompt: Schema.String,
  /**
   * `not-launched`, or the last state seen before the sweep: `starting`, `ready`, `in-turn`, `idle`, `requeued`,
   * `orphaned`, `dead`.
   */
  state: Schema.String,
  turns_started: Schema.Int,
  turns_ended: Schema.Int,
  /** Null when no accounts were drawn up. */
  measurement: Schema.NullOr(Measurement),
  input_tokens: Tokens,
  output_tokens: Tokens,
  cached_tokens: Tokens,
  /** US dollars. */
  cost_usd: Schema.NullOr(Schema.Finite)
})
/** One agent at the end of the trial. */
export type AgentSummary = typeof AgentSummary.Type

/** How long one phase took and, when it ended badly, why. */
export const PhaseSummary = Schema.Struct({
  phase: Schema.Literals(PHASES),
  started_at: Schema.String,
  seconds: Schema.Finite,
  error: Schema.NullOr(Schema.String)
})
/** How long one phase took and, when it ended badly, why. */
export type PhaseSummary = typeof PhaseSummary.Type

/** One step of the clean-up. Every step runs whatever became of the one before it. */
export const CleanupStep = Schema.Struct({
  step: Schema.String,
  seconds: Schema.Finite,
  error: Schema.NullOr(Schema.String)
})
/** One step of the clean-up. */
export type CleanupStep = typeof CleanupStep.Type

const SweptProcess = Schema.Struct({
  pid: Schema.Int,
  command: Schema.String,
  /** TCP ports it listens on; known of processes that were spared. */
  ports: Schema.optionalKey(Schema.Array(Schema.Int))
})

/** The evidence as it was put into the environment: what is graded is what was exported only if it has this digest. */
export const EvidenceSummary = Schema.Struct({
  /** Inside the environment. */
  path: Schema.String,
  /** 64 lower-case hex digits. */
  sha256: Schema.String,
  bytes: Schema.Int
})
/** The evidence as it was put into the environment. */
export type EvidenceSummary = typeof EvidenceSummary.Type

const Limit = Schema.NullOr(Schema.Finite)

/** A container as its engine reports it, whatever it was asked for. A limit is null where the engine sets none. */
export const ContainerSummary = Schema.Struct({
  id: Schema.String,
  engine: Schema.Struct({ flavor: Schema.String, version: Schema.String, address: Schema.String }),
  /** As it was named, and its id. */
  image: Schema.Struct({ reference: Schema.String, id: Schema.String }),
  limits: Schema.Struct({ cpus: Limit, memory_mb: Limit, storage_mb: Limit, pids: Limit }),
  network: Schema.String,
  /** Empty is root. */
  user: Schema.String,
  init: Schema.Boolean,
  read_only_root: Schema.Boolean,
  mounts: Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String, read_only: Schema.Boolean })),
  /** Directories in memory. */
  temporary: Schema.Array(Schema.String),
  /** After which it ends by itself; null for one that was there before. */
  time_limit_seconds: Limit
})
/** A container as its engine reports it. */
export type ContainerSummary = typeof ContainerSummary.Type

/** Whom the agents ran as. */
export const AgentUsersSummary = Schema.Struct({
  asked: Schema.Literals(AGENT_USERS),
  /** `own`: none of them could read another's variables or prompt, or write its logs. */
  held: Schema.Literals(["own", "image"]),
  /** Why they had no users of their own, where that was asked for. */
  reason: Schema.NullOr(Schema.String),
  /** Numeric user by agent, to whom the files that it made belong. Empty where all ran as the environment's user. */
  uids: Schema.Record(Schema.String, Schema.Int)
})
/** Whom the agents ran as. */
export type AgentUsersSummary = typeof AgentUsersSummary.Type

/** The whole document. */
export const TrialSummary = Schema.Struct({
  bundle_version: Schema.Literal("1"),
  run_id: Schema.String,
  trial_id: Schema.String,
  condition: Schema.String,
  manifest_sha256: Schema.String,
  solo_roster: Schema.Boolean,
  /** Null when provisioning did not get that far. */
  channel_id: Schema.NullOr(Schema.String),
  relay_url: Schema.String,
  /** What the relay answered to programs in the environment before agents were started; null when it was not asked. */
  relay_probe: Schema.NullOr(
    Schema.Struct({
      /** `connection`: the relay speaks TLS, of which only the connection can be tried. `unknown`: `detail` says why. */
      result: Schema.Literals(["handshake", "connection", "unknown"]),
      detail: Schema.NullOr(Schema.String)
    })
  ),
  environment: Schema.Struct({
    kind: Schema.String,
    name: Schema.String,
    architecture: Schema.String,
    limitations: Schema.Array(Schema.String),
    /** Of a container only. */
    container: Schema.optionalKey(ContainerSummary)
  }),
  started_at: Schema.String,
  ended_at: Schema.String,
  /** Null when the trial ended with an error before an outcome was reached. */
  outcome: Schema.NullOr(Schema.Literals(OUTCOMES)),
  /** What the trial counts as, as far as this runtime can know: `Verdict.of` tells it again once a verifier has graded. */
  verdict: Schema.Literals(VERDICTS),
  /** Of a verifier; null where none has graded. */
  reward: Schema.NullOr(Schema.Finite),
  /** The sentence that explains the outcome. */
  detail: Schema.String,
  /** `reason` is the tag of the reason; `message` says what happened and what to do. */
  error: Schema.NullOr(Schema.Struct({ phase: Schema.String, reason: Schema.String, message: Schema.String })),
  task_event_id: Schema.NullOr(Schema.String),
  completion_message_id: Schema.NullOr(Schema.String),
  completion_message: Schema.NullOr(Schema.String),
  phases: Schema.Array(PhaseSummary),
  agents: Schema.Array(AgentSummary),
  /** The part of `agents` that other readers of the format look for. */
  roster: Schema.Array(
    Schema.Struct({
      agent_id: Schema.String,
      role: Schema.String,
      endpoint: Schema.String,
      system_prompt: Schema.String
    })
  ),
  totals: Totals,
  accounting: Accounting,
  /** What of the manifest the trial was not held to. */
  unenforced: Schema.Array(Unenforced),
  message_count: Schema.Int,
  /** Null when it could not be put there. */
  evidence: Schema.NullOr(EvidenceSummary),
  /** sha256 of each installed program, as verified inside the environment. */
  stack: Schema.Record(Schema.String, Schema.String),
  /** The system's certificates, once the stack was installed: there before, copied from the stack's bundle, or neither. */
  trust_store: Schema.NullOr(Schema.Literals(["present", "seeded", "failed"])),
  /** Null when nothing was launched. */
  agent_users: Schema.NullOr(AgentUsersSummary),
  warnings: Schema.Array(Schema.String),
  cleanup: Schema.Array(CleanupStep),
  /** Null when nothing was launched, so that nothing was there to end. */
  sweep: Schema.NullOr(Schema.Struct({ survivors: Schema.Array(SweptProcess), spared: Schema.Array(SweptProcess) })),
  /** The bundle was completed from what a killed harness left: the trial has no end of its own. */
  finished_later: Schema.Boolean,
  /** Of every file but this one and `result.json`, which are made of what was scanned. */
  secret_scan: SecretScan,
  /** Every file of the bundle but this one, relative to its folder and sorted. */
  files: Schema.Array(Schema.String),
  /**
   * sha256 of every file of the trial directory but this one and `result.json`, by its name relative to that directory; empty when
   * not every one could be read.
   */
  digests: Schema.Record(Schema.String, Schema.String)
})
/** The whole document. */
export type TrialSummary = typeof TrialSummary.Type
