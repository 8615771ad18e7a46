/**
 * `RUST_LOG` as `EnvFilter` reads it, without span directives. Pure.
 */
import { LEVELS, type Level } from "./TracingLine.ts"

/** One directive: records of `target` and everything below it, from `level` up; `undefined` is off. */
export interface Directive {
  /** Empty for the default of all targets. */
  readonly target: string
  readonly level: Level | undefined
}

/** What is let through. */
export type LogFilter = ReadonlyArray<Directive>

/**
 * Reads `target=level`, `level` and `target` (all levels), separated by commas. Unset or blank means `fallback`. What
 * cannot be read is left out, as the real filter does, so that a typing error never silences everything.
 */
export const parse = (text: string | undefined, fallback: string): LogFilter =>
  (text === undefined || text.trim() === "" ? fallback : text).split(",").flatMap((part) => {
    const directive = parseDirective(part.trim())
    return directive === undefined ? [] : [directive]
  })

/** Whether a record is let through. The longest matching target decides; of equal ones the last. */
export const isEnabled = (filter: LogFilter, target: string, level: Level): boolean => {
  let best: Directive | undefined
  for (const directive of filter)
    if (target.startsWith(directive.target) && directive.target.length >= (best?.target.length ?? 0)) best = directive
  return best?.level !== undefined && LEVELS.indexOf(level) <= LEVELS.indexOf(best.level)
}

const parseDirective = (part: string): Directive | undefined => {
  if (part === "") return undefined
  const match = /^(?:([\w:-]+)=)?([\w:-]+)$/.exec(part)
  if (match === null) return undefined
  const [, target, last = ""] = match
  const level = parseLevel(last)
  if (target !== undefined) return level === "unknown" ? undefined : { target, level }
  return level === "unknown" ? { target: last, level: "TRACE" } : { target: "", level }
}

const parseLevel = (text: string): Level | undefined | "unknown" => {
  const name = text.toUpperCase()
  if (name === "OFF") return undefined
  return LEVELS.find((level) => level === name) ?? "unknown"
}
