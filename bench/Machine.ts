/**
 * The machine that a run was measured on, in words. Figures of two machines cannot be compared, their ratios can.
 */
import { availableParallelism, cpus, loadavg, release, totalmem } from "node:os"

/** What stays the same during a run. */
export const machine = (): string => {
  const memory = Math.round(totalmem() / 2 ** 30)
  const model = cpus()[0]?.model.trim() ?? "unknown processor"
  return `${availableParallelism()} cores (${model}), ${memory} GiB, ${process.platform} ${release()}, Node ${process.version}`
}

/** Processes that ran or waited to run in the last minute: more than cores means that figures are too high. */
export const load = (): string => `load average ${(loadavg()[0] ?? 0).toFixed(1)}`
