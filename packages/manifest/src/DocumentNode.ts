/**
 * A document as it was written: a tree of typed values with their places, before any field has a meaning.
 *
 * It keeps what JavaScript values lose and the identity of a condition needs: integers apart from floats, integers of
 * any size, dates, and whether a text stood without quotes. An alias shares the node of its anchor; nothing is copied.
 */
import { shorten } from "./internal/shorten.ts"
import type { Position } from "./Position.ts"

interface Placed {
  /** Where the value begins in the file, in UTF-16 units; absent in decoded values. */
  readonly offset: number | undefined
  /** How many characters the value would take at least, were every alias written out. */
  readonly length: number
  /** How many collections lie inside each other here, this one included. */
  readonly depth: number
}

/** A value that holds no others. */
export type ScalarNode = Placed &
  (
    | { readonly _tag: "Null" }
    | { readonly _tag: "Boolean"; readonly value: boolean }
    | { readonly _tag: "Integer"; readonly value: bigint }
    | { readonly _tag: "Float"; readonly value: number }
    /** `value` is the date in ISO 8601, microseconds in six digits when there are any. */
    | { readonly _tag: "Timestamp"; readonly value: string }
    /** `plain` when it stood without quotes. */
    | { readonly _tag: "Text"; readonly value: string; readonly plain: boolean }
  )

/** A list. */
export interface SequenceNode extends Placed {
  readonly _tag: "Sequence"
  readonly items: ReadonlyArray<DocumentNode>
}

/** One key of a mapping with its value. */
export interface MappingEntry {
  /** Where the key begins. */
  readonly keyOffset: number | undefined
  readonly value: DocumentNode
}

/** A mapping; keys are text and in the order of the document. */
export interface MappingNode extends Placed {
  readonly _tag: "Mapping"
  readonly entries: ReadonlyMap<string, MappingEntry>
}

/** Any value of a document. */
export type DocumentNode = ScalarNode | SequenceNode | MappingNode

/** A whole document. `positionAt` turns an offset into line and column; without it the document was no file. */
export interface ManifestDocument {
  readonly root: MappingNode
  readonly positionAt?: (offset: number) => Position
}

/**
 * The deepest nesting read. A manifest needs five levels and `metadata` a few more; beyond this the recursive readers
 * and writers of JSON, here and elsewhere, are in danger.
 */
export const MAX_DEPTH = 100

/** Ten times what a whole file may hold: aliases may save typing, not multiply without bound. */
export const MAX_EXPANDED_LENGTH = 10 * 1024 * 1024

type ScalarValue<N = ScalarNode> = N extends ScalarNode ? Omit<N, keyof Placed> : never

/** A scalar node. */
export const scalar = (value: ScalarValue, offset: number | undefined): ScalarNode => ({
  ...value,
  offset,
  length: "value" in value && typeof value.value === "string" ? value.value.length + 1 : 1,
  depth: 0
})

/** A list node. */
export const sequence = (items: ReadonlyArray<DocumentNode>, offset: number | undefined): SequenceNode => {
  let length = 2
  let depth = 0
  for (const item of items) {
    length += item.length
    depth = Math.max(depth, item.depth)
  }
  return { _tag: "Sequence", items, offset, length, depth: depth + 1 }
}

/** A mapping node. */
export const mapping = (entries: ReadonlyMap<string, MappingEntry>, offset: number | undefined): MappingNode => {
  let length = 2
  let depth = 0
  for (const [key, { value }] of entries) {
    length += key.length + 1 + value.length
    depth = Math.max(depth, value.depth)
  }
  return { _tag: "Mapping", entries, offset, length, depth: depth + 1 }
}

/** The value of `key` when `node` is a mapping that has it. */
export const member = (node: DocumentNode | undefined, key: string): DocumentNode | undefined =>
  node?._tag === "Mapping" ? node.entries.get(key)?.value : undefined

/** The items of `node` when it is a list, else none. */
export const items = (node: DocumentNode | undefined): ReadonlyArray<DocumentNode> =>
  node?._tag === "Sequence" ? node.items : []

/** The entries of `node` when it is a mapping, else none. */
export const members = (node: DocumentNode | undefined): ReadonlyArray<readonly [string, DocumentNode]> =>
  node?._tag === "Mapping" ? Array.from(node.entries, ([key, { value }]) => [key, value] as const) : []

/** How a message names the value. */
export const describe = (node: DocumentNode): string => {
  switch (node._tag) {
    case "Null":
      return "null"
    case "Sequence":
      return "a list"
    case "Mapping":
      return "a mapping"
    case "Timestamp":
      return `the date ${node.value}`
    case "Text":
      return node.value === "" ? "an empty text" : `the text ${JSON.stringify(shorten(node.value))}`
    default:
      return shorten(String(node.value))
  }
}
