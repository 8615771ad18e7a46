/**
 * Turns a document into the plain value that the schema of the manifest decodes.
 */
import { type DocumentNode, type MappingNode, members } from "../DocumentNode.ts"
import type { FreeValue } from "../ExperimentManifest.ts"
import { floatOf, integerOf } from "./fieldNumber.ts"

/** The fields that hold floats. Plain text that reads as a decimal number is a number in these, and text elsewhere. */
const FLOAT_FIELDS: ReadonlySet<string> = new Set([
  "temperature",
  "max_cost_usd",
  "input_per_million_usd",
  "cached_input_per_million_usd",
  "output_per_million_usd",
  "cache_read_rate"
])

/** Stands for a value that no schema may take, where its JavaScript form would pass for text or an integer. */
const UNFIT = Symbol("unfit")

/** The whole manifest as a plain value. Integers beyond 2^53 are rounded here; the canonical form has them exactly. */
export const plainManifest = (root: MappingNode): unknown =>
  plain(root, "", (key, value, parent) => {
    if (isFree(key, parent)) return freeValue(value)
    return FLOAT_FIELDS.has(key) ? floatOf(value) : undefined
  })

/** A document that has neither float fields nor free mappings as a plain value. */
export const plainDocument = (root: MappingNode): unknown => plain(root, "", () => undefined)

/** The two free mappings: `metadata` of the manifest, and `extra` of a generation. */
const isFree = (key: string, parent: string): boolean =>
  (parent === "" && key === "metadata") || (parent === "generation" && key === "extra")

/** Reads a member that has a reading of its own; `undefined` for the others. */
type Special = (key: string, value: DocumentNode, parent: string) => unknown

const plain = (node: DocumentNode, parent: string, special: Special): unknown => {
  switch (node._tag) {
    case "Null":
      return null
    case "Integer":
      return Number(node.value)
    case "Timestamp":
      return UNFIT
    case "Float":
      return integerOf(node) === undefined && Number.isInteger(node.value) ? UNFIT : node.value
    case "Sequence":
      return node.items.map((item) => plain(item, parent, special))
    case "Mapping":
      return Object.fromEntries(
        members(node).map(([key, value]) => [key, special(key, value, parent) ?? plain(value, key, special)])
      )
    default:
      return node.value
  }
}

const freeValue = (node: DocumentNode): FreeValue => {
  switch (node._tag) {
    case "Null":
      return null
    case "Integer":
      return Number.isSafeInteger(Number(node.value)) ? Number(node.value) : node.value
    case "Sequence":
      return node.items.map(freeValue)
    case "Mapping":
      return Object.fromEntries(members(node).map(([key, value]) => [key, freeValue(value)]))
    default:
      return node.value
  }
}
