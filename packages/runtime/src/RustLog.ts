/**
 * `RUST_LOG` for an agent: what the operator asked for, and after it what this runtime reads. Pure.
 *
 * Of several directives for one target the last counts, and of several that fit a target the longest (`tracing-subscriber`'s
 * `EnvFilter`). So the required ones, put last, hold whatever the operator wrote.
 */

/** One directive. Without a target it is the default of all targets. */
export interface Directive {
  readonly target: string | undefined
  /** As written, lower case; `undefined` means everything. */
  readonly level: string | undefined
}

/**
 * What every agent is launched with, in this order. `buzz_acp` tells of readiness, `pool::prompt` of turns, `acp::usage` of
 * tokens, `acp::tool` and `acp::stream` of progress. `acp::wire` would print the agent's secret key.
 */
export const REQUIRED: ReadonlyArray<Directive> = [
  { target: "buzz_acp", level: "info" },
  { target: "pool::prompt", level: "info" },
  { target: "acp::usage", level: "debug" },
  { target: "acp::tool", level: "info" },
  { target: "acp::stream", level: "info" },
  { target: "acp::wire", level: "off" }
]

const SECRET_TARGET = "acp::wire"

/** The value to launch with. Of the operator's directives those that are none, or that could reveal secrets, are left out. */
export const compose = (operator: string | undefined): string =>
  [...parse(operator ?? "").filter((directive) => !directive.target?.startsWith(SECRET_TARGET)), ...REQUIRED]
    .map(format)
    .join(",")

/**
 * The directives of a value, in its order. Those that select spans or fields (`[…]`) are not read: they switch whole spans on
 * whatever the target, and nothing of a trial needs them.
 */
export const parse = (value: string): ReadonlyArray<Directive> =>
  splitOutsideBrackets(value).flatMap((text): ReadonlyArray<Directive> => {
    const [, target, level] = /^([A-Za-z0-9_:-]+)(?:=([A-Za-z0-5]*))?$/.exec(text.trim()) ?? []
    if (target === undefined) return []
    if (level === undefined)
      return isLevel(target) ? [{ target: undefined, level: target.toLowerCase() }] : [{ target, level: undefined }]
    return isLevel(level) ? [{ target, level: level.toLowerCase() }] : []
  })

/** The level at which a target is printed; `off` where no directive fits. */
export const levelOf = (directives: ReadonlyArray<Directive>, target: string): string => {
  const fitting = directives.filter((directive) => target.startsWith(directive.target ?? ""))
  const longest = Math.max(0, ...fitting.map((directive) => directive.target?.length ?? 0))
  const last = fitting.findLast((directive) => (directive.target?.length ?? 0) === longest)
  return last === undefined ? "off" : (last.level ?? "trace")
}

const format = ({ level, target }: Directive): string =>
  target === undefined ? (level ?? "trace") : level === undefined ? target : `${target}=${level}`

/** Names in any case, or 0 (off) to 5 (trace). */
const isLevel = (text: string): boolean => /^(?:off|error|warn|info|debug|trace|[0-5])$/i.test(text)

const splitOutsideBrackets = (value: string): ReadonlyArray<string> => value.match(/(?:\[[^\]]*\]?|[^,[])+/g) ?? []
