/**
 * Which credential belongs to which class of the roster. Pure.
 *
 * Each credential is checked on its own first, in the order given; whether they are complete is looked at last.
 */
import { Result } from "effect"
import {
  AgentClassUnknown,
  AgentIdMalformed,
  AgentKindMismatch,
  AgentRepeated,
  AgentsMissing,
  AgentsUnexpected,
  type CredentialReason
} from "./CredentialReason.ts"
import type { AgentClass, ExperimentManifest } from "./ExperimentManifest.ts"

/** One agent's credential, as far as the roster is concerned. */
export interface AgentKind {
  /** `<class id>-<number>`. */
  readonly agentId: string
  /** `orchestrator` or `worker`. */
  readonly kind: string
}

/** How many of the missing agents a reason names: a roster may ask for any number of them. */
const MAX_NAMED = 20

/** The class of each agent, in the order of the roster and then of the number. */
export const classesByAgentId = (
  manifest: ExperimentManifest,
  credentials: ReadonlyArray<AgentKind>
): Result.Result<ReadonlyMap<string, AgentClass>, CredentialReason> => {
  const given = new Map<string, { readonly entry: AgentClass; readonly number: number }>()
  for (const credential of credentials) {
    const seat = seatOf(manifest, credential)
    if (Result.isFailure(seat)) return Result.fail(seat.failure)
    const { agentId } = credential
    if (given.has(agentId)) return Result.fail(new AgentRepeated({ agentId }))
    given.set(agentId, seat.success)
  }
  const unexpected = [...given].filter(([agentId, { entry, number }]) => {
    // `lead-01` is the number 1 in digits that no agent of the roster is named with.
    return number < 1 || number > entry.count || agentId !== `${entry.id}-${number}`
  })
  const missing = manifest.roster.flatMap((entry) => missingOf(entry, given))
  if (missing.length > 0) return Result.fail(new AgentsMissing({ agentIds: missing.slice(0, MAX_NAMED) }))
  if (unexpected.length > 0)
    return Result.fail(new AgentsUnexpected({ agentIds: unexpected.map(([agentId]) => agentId) }))
  return Result.succeed(
    new Map(
      manifest.roster.flatMap((entry) =>
        [...given]
          .filter(([, seat]) => seat.entry === entry)
          .toSorted(([, a], [, b]) => a.number - b.number)
          .map(([agentId]) => [agentId, entry] as const)
      )
    )
  )
}

const seatOf = (
  manifest: ExperimentManifest,
  { agentId, kind }: AgentKind
): Result.Result<{ readonly entry: AgentClass; readonly number: number }, CredentialReason> => {
  // Class ids may have hyphens of their own, so the last one separates.
  const parts = /^(.*)-([0-9]+)$/s.exec(agentId)
  if (parts === null) return Result.fail(new AgentIdMalformed({ agentId }))
  const [, classId = "", number = ""] = parts
  const entry = manifest.roster.find(({ id }) => id === classId)
  if (entry === undefined) {
    return Result.fail(new AgentClassUnknown({ agentId, classId, known: manifest.roster.map(({ id }) => id) }))
  }
  return kind === entry.kind
    ? Result.succeed({ entry, number: Number(number) })
    : Result.fail(new AgentKindMismatch({ agentId, expected: entry.kind, actual: kind }))
}

const missingOf = (entry: AgentClass, given: ReadonlyMap<string, unknown>): ReadonlyArray<string> => {
  const missing: Array<string> = []
  for (let number = 1; number <= entry.count && missing.length < MAX_NAMED; number++) {
    const agentId = `${entry.id}-${number}`
    if (!given.has(agentId)) missing.push(agentId)
  }
  return missing
}
