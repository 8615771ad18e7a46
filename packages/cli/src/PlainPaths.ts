/**
 * Where task files go on a machine without a sandbox: what they are told to be written to may be somebody's. Pure.
 */
import type { EnvironmentFacts } from "@buzz-orchestra/runtime/EnvironmentService"
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"

type Relocated = Pick<TrialOptions, "endpoints" | "uploads">

/** The environment's own directories by the paths that they have elsewhere. */
const placesOf = ({ logsDirectory, testsDirectory, workDirectory }: EnvironmentFacts) =>
  [
    ["/app", workDirectory],
    ["/logs", logsDirectory],
    ["/tests", testsDirectory]
  ] as const

/** The path below the environment's private directory that stands for an absolute one. */
export const relocate = (facts: EnvironmentFacts, path: string): string => {
  for (const [from, to] of placesOf(facts)) {
    if (path === from || path.startsWith(`${from}/`)) return `${to}${path.slice(from.length)}`
  }
  return `${facts.workDirectory.replace(/\/[^/]*$/, "")}/files${path}`
}

/** Every upload there, and every variable of an endpoint that names the target of one. */
export const relocateAll = (facts: EnvironmentFacts, { endpoints, uploads = [] }: Relocated): Relocated => {
  const targets = new Set(uploads.map(({ target }) => target))
  const moved = (value: string): string => (targets.has(value) ? relocate(facts, value) : value)
  return {
    uploads: uploads.map(({ source, target }) => ({ source, target: relocate(facts, target) })),
    endpoints: Object.fromEntries(
      Object.entries(endpoints).map(([name, { env, ...launch }]) => [
        name,
        env === undefined
          ? launch
          : { ...launch, env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, moved(value)])) }
      ])
    )
  }
}
