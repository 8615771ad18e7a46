/**
 * What a YAML 1.1 scalar means, by the rules of PyYAML's safe loader: which type a plain scalar has, and the value of
 * a scalar whose type is known or given by a tag.
 *
 * The rules are narrower than YAML 1.1 in places (`y` is text, `1e5` is text) and wider than YAML 1.2 in others
 * (`yes`, `010`, `1:30`, dates). Conditions were hashed by them, so they are followed to the letter.
 */
import { NUMERAL } from "./internal/fieldNumber.ts"

/** The types a scalar can have; `merge` and `value` are the plain `<<` and `=`. */
export type ScalarType = "null" | "bool" | "int" | "float" | "timestamp" | "merge" | "value" | "str"

/** A typed value without its place. */
export type TypedScalar =
  | { readonly _tag: "Null" }
  | { readonly _tag: "Boolean"; readonly value: boolean }
  | { readonly _tag: "Integer"; readonly value: bigint }
  | { readonly _tag: "Float"; readonly value: number }
  | { readonly _tag: "Timestamp"; readonly value: string }

/** Why a text is not a value of its type: `NotFinite`, or what it would have to be. */
export type ScalarRefusal = { readonly _tag: "NotFinite" } | { readonly _tag: "Malformed"; readonly expected: string }

const NULL = /^(?:~|null|Null|NULL|)$/
const BOOL = /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/
const INT =
  /^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/
const FLOAT =
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
const TIMESTAMP =
  /^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)$/

/** The type of a plain scalar. */
export const implicitType = (text: string): ScalarType => {
  if (NULL.test(text)) return "null"
  if (BOOL.test(text)) return "bool"
  if (FLOAT.test(text)) return "float"
  if (INT.test(text)) return "int"
  if (TIMESTAMP.test(text)) return "timestamp"
  return text === "<<" ? "merge" : text === "=" ? "value" : "str"
}

/** The value of `text` as a scalar of the given type, or why it has none. */
export const construct = (
  type: "null" | "bool" | "int" | "float" | "timestamp",
  text: string
): TypedScalar | ScalarRefusal => {
  switch (type) {
    case "null":
      return { _tag: "Null" }
    case "bool":
      return /^(?:yes|true|on)$/i.test(text)
        ? { _tag: "Boolean", value: true }
        : /^(?:no|false|off)$/i.test(text)
          ? { _tag: "Boolean", value: false }
          : malformed("a boolean")
    case "int":
      return integer(text)
    case "float":
      return float(text)
    case "timestamp":
      return timestamp(text)
  }
}

const malformed = (expected: string): ScalarRefusal => ({ _tag: "Malformed", expected })

/** Python writes no integer with more decimal digits than this, so no such condition has a hash. */
const MAX_DECIMAL_DIGITS = 4300

const BEYOND = 10n ** BigInt(MAX_DECIMAL_DIGITS)

/** More than the digits, in base 2, of the largest integer; a bound on the work of finding out. */
const MAX_LENGTH = 15_000

const integer = (text: string): TypedScalar | ScalarRefusal => {
  if (!INT.test(text)) return malformed("an integer")
  const digits = text.replaceAll("_", "").replace(/^[-+]/, "")
  const magnitude = digits.length <= MAX_LENGTH ? unsigned(digits) : undefined
  if (magnitude === undefined || magnitude >= BEYOND) {
    return malformed(`an integer of at most ${MAX_DECIMAL_DIGITS} digits`)
  }
  return { _tag: "Integer", value: text.startsWith("-") ? -magnitude : magnitude }
}

const unsigned = (digits: string): bigint | undefined => {
  // `0b` and `0x` pass the pattern with underscores alone.
  if (/^0[bx]/.test(digits)) return digits.length === 2 ? undefined : BigInt(digits)
  if (/^0[0-7]/.test(digits)) return BigInt(`0o${digits.slice(1)}`)
  return digits.split(":").reduce((total, part) => total * 60n + BigInt(part), 0n)
}

/** From here on the weight of a part is beyond any float. */
const MAX_SEXAGESIMAL_PARTS = 174

const float = (text: string): TypedScalar | ScalarRefusal => {
  if (/^[-+]?\.inf$/i.test(text) || /^\.nan$/i.test(text)) return { _tag: "NotFinite" }
  const digits = text.replaceAll("_", "").replace(/^[-+]/, "")
  if (!FLOAT.test(text) && !NUMERAL.test(digits)) return malformed("a number")
  const parts = digits.split(":").toReversed()
  if (parts.length > MAX_SEXAGESIMAL_PARTS) return { _tag: "NotFinite" }
  // From the last part to the first, as Python adds them up: the order decides the last bit.
  const magnitude = parts.reduce((total, part, place) => total + Number(part) * Number(60n ** BigInt(place)), 0)
  if (!Number.isFinite(magnitude)) return { _tag: "NotFinite" }
  return { _tag: "Float", value: text.startsWith("-") ? -magnitude : magnitude }
}

const PARTS =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]|[ \t]+)(\d{1,2}):(\d{2}):(\d{2})(?:\.(\d*))?(?:[ \t]*(Z|([-+])(\d{1,2})(?::(\d{2}))?))?)?$/

const timestamp = (text: string): TypedScalar | ScalarRefusal => {
  const parts = PARTS.exec(text)
  if (parts === null) return malformed("a date")
  const [, year = "", month = "", day = "", hour, minute = "", second = "", fraction = "", zone] = parts
  if (!isDate(Number(year), Number(month), Number(day))) return malformed("a date of the calendar")
  const date = `${year}-${two(month)}-${two(day)}`
  if (hour === undefined) return { _tag: "Timestamp", value: date }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return malformed("a time of the day")
  const offset = zone === undefined ? "" : zoneOffset(zone, parts[9] ?? "", Number(parts[10]), Number(parts[11] ?? 0))
  if (offset === undefined) return malformed("a time with an offset below 24 hours")
  const micros = fraction.slice(0, 6).padEnd(6, "0")
  const time = `${two(hour)}:${minute}:${second}${Number(micros) === 0 ? "" : `.${micros}`}`
  return { _tag: "Timestamp", value: `${date}T${time}${offset}` }
}

const two = (digits: string): string => digits.padStart(2, "0")

const isDate = (year: number, month: number, day: number): boolean => {
  if (year === 0 || month < 1 || month > 12 || day < 1) return false
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return day <= [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!
}

const zoneOffset = (zone: string, sign: string, hours: number, minutes: number): string | undefined => {
  const total = zone === "Z" ? 0 : hours * 60 + minutes
  if (total >= 24 * 60) return undefined
  return total === 0 ? "Z" : `${sign}${two(String(Math.floor(total / 60)))}:${two(String(total % 60))}`
}

/** Whether a typed scalar came out of `construct`. */
export const isTyped = (outcome: TypedScalar | ScalarRefusal): outcome is TypedScalar =>
  outcome._tag !== "NotFinite" && outcome._tag !== "Malformed"
