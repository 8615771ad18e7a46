/**
 * What is known of a trial's container, as `summary.json` spells it. Pure.
 */
import type { ContainerFacts } from "../docker/ContainerFacts.ts"
import type { ContainerSummary } from "../TrialSummary.ts"

/** Of the facts of an environment. */
export const containerSummary = ({
  applied,
  engine,
  id,
  image,
  timeLimitSeconds
}: ContainerFacts): ContainerSummary => {
  const { cpus, memoryMb, pids, storageMb } = applied.limits
  return {
    id,
    engine,
    image,
    limits: {
      cpus: cpus ?? null,
      memory_mb: memoryMb ?? null,
      storage_mb: storageMb ?? null,
      pids: pids ?? null
    },
    network: applied.network,
    user: applied.user,
    init: applied.init,
    read_only_root: applied.readOnlyRoot,
    mounts: applied.mounts.map(({ readOnly, source, target }) => ({ source, target, read_only: readOnly })),
    temporary: applied.temporary,
    time_limit_seconds: timeLimitSeconds ?? null
  }
}
