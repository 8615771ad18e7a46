/**
 * The two published lines of the manifest format, and how to tell which one a document is written in.
 *
 * They share most fields and differ in a few; both are read here, and each gives the same condition its own identity.
 */
import { Schema } from "effect"
import { type DocumentNode, items, type ManifestDocument, member, members } from "./DocumentNode.ts"
import type { FieldPath } from "./FieldPath.ts"

/** `trunk` is the main line of the format, `study` the long-lived benchmark line. */
export const Dialect = Schema.Literals(["trunk", "study"])

/** One of the two lines of the manifest format. */
export type Dialect = typeof Dialect.Type

/** A place in a document where one dialect parts from the other. */
export interface DialectField {
  readonly path: FieldPath
  /** Where the key stands, or for what is left out the mapping it is left out of. */
  readonly offset: number | undefined
}

/** What of a document belongs to one dialect only. */
export interface DialectUse {
  /** Fields that only trunk has. */
  readonly trunkOnly: ReadonlyArray<DialectField>
  /** Fields that only the study dialect has. */
  readonly studyOnly: ReadonlyArray<DialectField>
  /** Fields that trunk requires and the document leaves out. */
  readonly leftOut: ReadonlyArray<DialectField>
  /** Fields that trunk requires and the document sets to null. */
  readonly nulls: ReadonlyArray<DialectField>
}

const STUDY_FIELDS_OF_CLASS = ["harness", "include_platform_prompt"]
const STUDY_FIELDS_OF_GENERATION = ["compact_at_percent", "compact_at_tokens"]
const REQUIRED_BY_TRUNK = ["max_output_tokens", "context_window_tokens"]

/** Finds what of a document belongs to one dialect only. Free mappings are not looked into. */
export const dialectUse = ({ root }: ManifestDocument): DialectUse => {
  const roster = items(member(root, "roster")).map((node, index) => ({ node, path: ["roster", index] }))
  const generations = roster.flatMap(({ node, path }) => {
    const generation = member(node, "generation")
    return generation?._tag === "Mapping" ? [{ node: generation, path: [...path, "generation"] }] : []
  })
  const prices = members(member(root, "prices")).map(([endpoint, node]) => ({ node, path: ["prices", endpoint] }))
  return {
    trunkOnly: generations.flatMap((place) => present(place, ["temperature"])),
    studyOnly: [
      ...present({ node: root, path: [] }, ["environment"]),
      ...roster.flatMap((place) => present(place, STUDY_FIELDS_OF_CLASS)),
      ...generations.flatMap((place) => present(place, STUDY_FIELDS_OF_GENERATION)),
      ...prices.flatMap((place) => present(place, ["cache_read_rate"]))
    ],
    leftOut: [
      ...roster.flatMap((place) => absent(place, ["generation"])),
      ...generations.flatMap((place) => absent(place, REQUIRED_BY_TRUNK))
    ],
    nulls: generations.flatMap((place) =>
      present(place, REQUIRED_BY_TRUNK).filter(({ path }) => member(place.node, String(path.at(-1)))?._tag === "Null")
    )
  }
}

/** The dialect of a document: study when it uses or leaves out what only that line allows, else trunk. */
export const dialectOf = (use: DialectUse): Dialect =>
  use.studyOnly.length + use.leftOut.length + use.nulls.length > 0 ? "study" : "trunk"

interface Place {
  readonly node: DocumentNode
  readonly path: FieldPath
}

const present = ({ node, path }: Place, keys: ReadonlyArray<string>): ReadonlyArray<DialectField> =>
  keys.flatMap((key) => {
    const entry = node._tag === "Mapping" ? node.entries.get(key) : undefined
    return entry === undefined ? [] : [{ path: [...path, key], offset: entry.keyOffset }]
  })

const absent = ({ node, path }: Place, keys: ReadonlyArray<string>): ReadonlyArray<DialectField> =>
  keys
    .filter((key) => node._tag === "Mapping" && !node.entries.has(key))
    .map((key) => ({ path: [...path, key], offset: node.offset }))
