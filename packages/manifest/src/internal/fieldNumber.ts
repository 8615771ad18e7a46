/**
 * The numbers that a node gives where the manifest expects one. Nothing is coerced from quoted text or booleans.
 */
import type { DocumentNode } from "../DocumentNode.ts"

/** A decimal number as people write it, `1e-7` and `08` included; YAML 1.1 reads those two as text. */
export const NUMERAL = /^[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/

/** Where a float is expected: any number, or plain text that reads as a decimal number. */
export const floatOf = (node: DocumentNode | undefined): number | undefined => {
  switch (node?._tag) {
    case "Float":
      return node.value
    case "Integer":
      return finite(Number(node.value))
    case "Text":
      return node.plain && NUMERAL.test(node.value) ? finite(Number(node.value)) : undefined
    default:
      return undefined
  }
}

/** Where an integer is expected: an integer, or a float without a fraction such as `300.0`. */
export const integerOf = (node: DocumentNode | undefined): bigint | undefined => {
  if (node?._tag === "Integer") return node.value
  return node?._tag === "Float" && Number.isInteger(node.value) ? BigInt(node.value) : undefined
}

const finite = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined)
