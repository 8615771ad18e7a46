/**
 * JSON text byte for byte as the Python harness writes it: `json.dumps` with sorted keys, compact separators and
 * non-ASCII characters as they are.
 */

/** A value of JSON in which a `bigint` is an integer and a `number` a float. */
export type CanonicalValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | ReadonlyArray<CanonicalValue>
  | { readonly [key: string]: CanonicalValue }

/** Writes the value. Numbers must be finite and texts well formed, which every document that was read is. */
export const stringify = (value: CanonicalValue): string => {
  if (value === null || typeof value === "boolean") return String(value)
  if (typeof value === "bigint") return value.toString()
  if (typeof value === "number") return pythonFloat(value)
  // For well-formed text JavaScript's escapes are Python's: quotes, backslashes and what lies below U+0020.
  if (typeof value === "string") return JSON.stringify(value)
  if (isList(value)) return `[${value.map(stringify).join(",")}]`
  const members = Object.entries(value).toSorted(([a], [b]) => compareCodePoints(a, b))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${stringify(member)}`).join(",")}}`
}

const isList = (value: CanonicalValue): value is ReadonlyArray<CanonicalValue> => Array.isArray(value)

/** The order of code points. JavaScript's own order is of UTF-16 units, which puts U+FFFD behind every emoji. */
export const compareCodePoints = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    if (a.charCodeAt(index) === b.charCodeAt(index)) continue
    // Where the first difference is inside a pair, its first halves are equal and the second halves decide alike.
    return rank(a.charCodeAt(index)) - rank(b.charCodeAt(index))
  }
  return a.length - b.length
}

/** Surrogates stand for code points above every other unit. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

/**
 * Python's `repr` of a finite float: the same shortest digits as JavaScript's, with an exponent below 1e-4 and from
 * 1e16 on, of at least two digits, and `.0` where there is neither.
 */
export const pythonFloat = (value: number): string => {
  if (Object.is(value, -0)) return "-0.0"
  const [mantissa = "", power = ""] = value.toExponential().split("e")
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 16) {
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`
  }
  const plain = String(value)
  return plain.includes(".") ? plain : `${plain}.0`
}
