/**
 * Reads YAML, and JSON as the part of YAML it is, the way PyYAML's safe loader does.
 *
 * The library `yaml` parses the syntax (with its `failsafe` schema, in which every scalar is text); what a scalar
 * means, merge keys, aliases and tags are decided here. Where the two parsers could disagree about a document, it is
 * refused: see `CharacterRefused`.
 */
import { Result } from "effect"
import { LineCounter, parseAllDocuments } from "yaml"
import { describe, type ManifestDocument, MAX_DEPTH } from "./DocumentNode.ts"
import {
  CharacterRefused,
  type DocumentReason,
  NestingTooDeep,
  RootNotMapping,
  SeveralDocuments,
  TextNotUnicode,
  YamlSyntaxInvalid
} from "./DocumentReason.ts"
import { YamlReader } from "./internal/yamlReader.ts"
import type { Position } from "./Position.ts"

/**
 * Everything that YAML 1.1 does not allow as it stands, and NEL, LS and PS: YAML 1.1 takes those three for line
 * breaks, YAML 1.2 for text, and an editor shows neither.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const REFUSED = /[^\t\n\r\x20-\x7E\xA0-\u2027\u202A-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u

/** Reads the bytes of a file: UTF-8, with or without a byte order mark. */
export const fromBytes = (bytes: Uint8Array): Result.Result<ManifestDocument, ReadonlyArray<DocumentReason>> => {
  try {
    return fromText(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    return Result.fail([new TextNotUnicode({ path: "" })])
  }
}

/** Reads a text. Every problem found is returned, except after a syntax error, which makes the rest unreadable. */
export const fromText = (source: string): Result.Result<ManifestDocument, ReadonlyArray<DocumentReason>> => {
  const text = source.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n")
  const lines = new LineCounter()
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const refused = REFUSED.exec(text)
  if (refused !== null) {
    const before = text.slice(0, refused.index).split("\n")
    const position = { line: before.length, column: before.at(-1)!.length + 1 }
    return Result.fail([new CharacterRefused({ path: "", position, character: codePoint(refused[0]) })])
  }
  // `uniqueKeys` compares every key with every other one; the reader does it with a set.
  const documents = parseAllDocuments(text, {
    schema: "failsafe",
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
    lineCounter: lines
  })
  const [document, second] = documents
  if (document === undefined) return Result.fail([new RootNotMapping({ path: "", found: "nothing" })])
  const [error] = document.errors
  if (error !== undefined) {
    const place = { path: "", position: positionAt(error.pos[0]) }
    // The library's own words for a stack overflow.
    const tooDeep = error.code === "RESOURCE_EXHAUSTION"
    return Result.fail([
      tooDeep
        ? new NestingTooDeep({ ...place, limit: MAX_DEPTH })
        : new YamlSyntaxInvalid({ ...place, detail: error.message })
    ])
  }
  if (second !== undefined) {
    return Result.fail([new SeveralDocuments({ path: "", position: positionAt(second.range[0]) })])
  }
  const reader = new YamlReader(text, positionAt)
  const root = reader.read(document.contents)
  if (reader.problems.length > 0) return Result.fail(reader.problems)
  return root._tag === "Mapping"
    ? Result.succeed({ root, positionAt })
    : Result.fail([new RootNotMapping({ path: "", position: positionAt(root.offset ?? 0), found: describe(root) })])
}

const codePoint = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`
