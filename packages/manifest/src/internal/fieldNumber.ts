/**
 * The numbers that a node gives where the manifest expects one. Nothing is coerced from quoted text or booleans.
 */
import type { DocumentNode } from "../DocumentNode.ts"

/**
 * A decimal number as people write it, `1e-7`, `08` and `1_000e3` included; YAML 1.1 reads those three as text.
 */
export const NUMERAL =
  /^[-+]?(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/

/** Where a float is expected: any number, or plain text that reads as a decimal number. */
export const floatOf = (node: DocumentNode | undefined): number | undefined => {
  switch (node?._tag) {
    case "Float":
      return node.value
    case "Integer":
      return finite(Number(node.value))
    case "Text":
      return node.plain && NUMERAL.test(node.value) ? finite(Number(node.value.replaceAll("_", ""))) : undefined
    default:
      return undefined
  }
}

/** Floats from here on are not taken for integers: what was meant by their last digits is anyone's guess. */
const MAX_INTEGRAL_FLOAT = 2 ** 63

/** Where an integer is expected: an integer of any size, or a float without a fraction such as `300.0`. */
export const integerOf = (node: DocumentNode | undefined): bigint | undefined => {
  if (node?._tag === "Integer") return node.value
  if (node?._tag !== "Float" || !Number.isInteger(node.value)) return undefined
  return Math.abs(node.value) < MAX_INTEGRAL_FLOAT ? BigInt(node.value) : undefined
}

const finite = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined)
