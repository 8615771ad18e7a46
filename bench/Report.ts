/**
 * How results are printed: tables and verdicts as Markdown, so that a run can be kept as it is. Pure.
 */
import { median, quantile } from "./Statistics.ts"

/** A table with a header row. The first column holds names, all others numbers, which stand right. */
export const table = (header: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = header.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = ([name = "", ...numbers]: ReadonlyArray<string>) => {
    const cells = numbers.map((cell, index) => cell.padStart(widths[index + 1] ?? 0))
    return `| ${[name.padEnd(widths[0] ?? 0), ...cells].join(" | ")} |`
  }
  const rule = widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`))
  return [line(header), `| ${rule.join(" | ")} |`, ...rows.map(line)].join("\n")
}

/** Milliseconds with three significant digits. */
export const millis = (value: number): string => (value < 100 ? value.toPrecision(3) : value.toFixed(0))

/** Median, tenth and ninetieth percentile, in milliseconds. */
export const spread = (values: ReadonlyArray<number>): string =>
  `${millis(median(values))} (${millis(quantile(values, 0.1))}–${millis(quantile(values, 0.9))})`

/** How many times as large. */
export const ratio = (value: number, base: number): string => `${(value / base).toPrecision(3)} x`

/** One line that says whether a target was met. Nothing fails for it: a busy machine is no defect. */
export const verdict = (isMet: boolean, target: string, measured: string): string =>
  `- ${isMet ? "met" : "NOT MET"}: ${target} (${measured})`
