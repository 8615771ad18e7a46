/**
 * Turns the nodes of the library `yaml` into a document, with PyYAML's rules for scalars, merges, aliases and tags.
 */
import { isAlias, isMap, isPair, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap } from "yaml"
import {
  describe,
  type DocumentNode,
  mapping,
  type MappingEntry,
  type MappingNode,
  MAX_DEPTH,
  MAX_EXPANDED_LENGTH,
  scalar,
  sequence
} from "../DocumentNode.ts"
import {
  type DocumentReason,
  DuplicateKey,
  ExpansionTooLarge,
  KeyNotText,
  MergeRefused,
  NestingTooDeep,
  NumberNotFinite,
  ScalarInvalid,
  TagRefused,
  TextNotUnicode,
  YamlSyntaxInvalid
} from "../DocumentReason.ts"
import { type FieldPath, renderPath } from "../FieldPath.ts"
import type { Position } from "../Position.ts"
import { shorten } from "./shorten.ts"
import { construct, implicitType, isTyped, type ScalarType } from "../Yaml11Scalar.ts"

/** Keys that all merges of a document may bring in together; each merge copies, so sizes could multiply. */
const MAX_MERGED_KEYS = 100_000

const PREFIX = "tag:yaml.org,2002:"

/** The scalar types that a tag may give. */
const SCALAR_TAGS: ReadonlyMap<string, ScalarType> = new Map(
  (["null", "bool", "int", "float", "timestamp", "str"] as const).map((type) => [PREFIX + type, type])
)

type YamlNode = Node | Pair | null | undefined

/** Where a value is read: its path from the root, and its offset should the node itself have none. */
interface Place {
  readonly path: FieldPath
  readonly offset: number
  /** Whether it stands between brackets or braces. */
  readonly flow: boolean
}

/** Reads one document; what it meets on the way collects in `problems`, in the order of the document. */
export class YamlReader {
  readonly problems: Array<DocumentReason> = []
  private readonly anchors = new Map<string, DocumentNode | "open">()
  private mergedKeys = 0
  private readonly source: string
  private readonly positionAt: (offset: number) => Position

  constructor(source: string, positionAt: (offset: number) => Position) {
    this.source = source
    this.positionAt = positionAt
  }

  /** Reads the root. The result means nothing when there are problems. */
  read(contents: YamlNode): DocumentNode {
    const root = this.node(contents, { path: [], offset: 0, flow: false })
    if (this.problems.length === 0 && (root.length > MAX_EXPANDED_LENGTH || this.mergedKeys > MAX_MERGED_KEYS)) {
      this.problem(new ExpansionTooLarge({ path: "", limit: MAX_EXPANDED_LENGTH }))
    }
    return root
  }

  private node(node: YamlNode, place: Place): DocumentNode {
    if (node === null || node === undefined || isPair(node)) return scalar({ _tag: "Null" }, place.offset)
    const here = { ...place, offset: node.range?.[0] ?? place.offset }
    if (isAlias(node)) return this.alias(node.source, here)
    const { anchor } = node
    if (anchor !== undefined) {
      if (this.anchors.has(anchor)) this.syntax(here, `the anchor \`&${anchor}\` is defined twice`)
      this.anchors.set(anchor, "open")
    }
    const read = isScalar(node) ? this.scalar(node, here) : this.collection(node, here)
    if (anchor !== undefined) this.anchors.set(anchor, read)
    return read
  }

  private alias(name: string, place: Place): DocumentNode {
    const target = this.anchors.get(name)
    if (target === undefined) this.syntax(place, `the alias \`*${name}\` has no anchor before it`)
    if (target === "open") this.problem(new NestingTooDeep({ ...this.at(place), limit: MAX_DEPTH }))
    return target === undefined || target === "open"
      ? scalar({ _tag: "Null" }, place.offset)
      : this.nested(target, place)
  }

  private collection(node: Node, place: Place): DocumentNode {
    const nothing = scalar({ _tag: "Null" }, place.offset)
    if (place.path.length > MAX_DEPTH) return this.nothing(new NestingTooDeep({ ...this.at(place), limit: MAX_DEPTH }))
    if (isMap<YamlNode, YamlNode>(node)) {
      return this.tagged(node.tag, "map", place) ? this.nested(this.mapping(node, place), place) : nothing
    }
    if (!isSeq<YamlNode>(node) || !this.tagged(node.tag, "seq", place)) return nothing
    const flow = place.flow || node.flow === true
    const items = node.items.map((item, index) => this.node(item, { ...place, flow, path: [...place.path, index] }))
    return this.nested(sequence(items, place.offset), place)
  }

  private mapping(map: YAMLMap<YamlNode, YamlNode>, place: Place): MappingNode {
    const merged = new Map<string, MappingEntry>()
    const own = new Map<string, MappingEntry>()
    const flow = place.flow || map.flow === true
    for (const { key, value } of map.items) {
      const offset = (isPair(key) ? undefined : key?.range?.[0]) ?? place.offset
      const inside = (...path: FieldPath): Place => ({ path: [...place.path, ...path], offset, flow })
      if (isMergeKey(key)) {
        const entries = this.merge(this.node(value, inside("<<")), inside("<<"))
        for (const [text, entry] of entries) merged.set(text, entry)
        continue
      }
      const text = this.key(key, inside())
      if (text === undefined) continue
      if (own.has(text)) this.problem(new DuplicateKey({ ...this.at(inside(text)), key: shorten(text) }))
      own.set(text, { keyOffset: offset, value: this.node(value, inside(text)) })
    }
    return mapping(new Map([...merged, ...own]), place.offset)
  }

  /** PyYAML's order: of several sources in a list the first wins, of several `<<` the last. */
  private merge(source: DocumentNode, place: Place): ReadonlyArray<readonly [string, MappingEntry]> {
    const sources = source._tag === "Sequence" ? source.items.toReversed() : [source]
    return sources.flatMap((each) => {
      const at = this.at({ ...place, offset: each.offset ?? place.offset })
      if (each._tag !== "Mapping") return this.none(new MergeRefused({ ...at, found: describe(each) }))
      this.mergedKeys += each.entries.size
      return this.mergedKeys <= MAX_MERGED_KEYS ? [...each.entries] : []
    })
  }

  private key(key: YamlNode, place: Place): string | undefined {
    const before = this.problems.length
    const node = this.node(key, place)
    if (node._tag === "Text") return node.value
    if (this.problems.length === before) {
      this.problem(new KeyNotText({ ...this.at(place), found: describe(node) }))
    }
    return undefined
  }

  private scalar(node: Scalar, place: Place): DocumentNode {
    const text = this.text(node, place)
    // PyYAML reads what stands behind a lone `!` as if it were plain, in quotes or not.
    const plain = node.tag === "!" || (node.tag === undefined && node.type === "PLAIN")
    const type = plain ? implicitType(text) : node.tag === undefined ? "str" : SCALAR_TAGS.get(node.tag)
    if (type === undefined) return this.nothing(new TagRefused({ ...this.at(place), tag: tagName(node.tag!) }))
    if (place.flow && plain && text.startsWith("?")) {
      this.syntax(place, "between brackets or braces a plain text may not begin with `?`; put it in quotes")
    }
    if (type === "merge" || type === "value") {
      return this.nothing(new TagRefused({ ...this.at(place), tag: `a plain \`${text}\`` }))
    }
    if (type === "str") {
      if (!text.isWellFormed() || this.hasSurrogateEscape(node)) this.problem(new TextNotUnicode(this.at(place)))
      return scalar({ _tag: "Text", value: text, plain }, place.offset)
    }
    const outcome = construct(type, text)
    if (isTyped(outcome)) return scalar(outcome, place.offset)
    return this.nothing(
      outcome._tag === "NotFinite"
        ? new NumberNotFinite({ ...this.at(place), found: shorten(text) })
        : new ScalarInvalid({ ...this.at(place), text: shorten(text), expected: outcome.expected })
    )
  }

  /** PyYAML takes each half of a pair written in escapes for a character of its own, and Python cannot encode it. */
  private hasSurrogateEscape(node: Scalar): boolean {
    if (node.type !== "QUOTE_DOUBLE" || !node.range) return false
    const escapes = this.source.slice(node.range[0], node.range[1]).match(/\\(?:u.{4}|U.{8}|[^])/g) ?? []
    return escapes.some((escape) => /^\\(?:u|U0000)d[89a-f]/i.test(escape))
  }

  /**
   * A block scalar that ends with the file has its last line break only if the file has it; `yaml` always adds one.
   * When that last line is nothing but spaces, the two parsers disagree about what belongs to the text.
   */
  private text(node: Scalar, place: Place): string {
    const text = node.source ?? ""
    const block = node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED"
    if (!block || node.range?.[1] !== this.source.length || this.source.endsWith("\n")) return text
    const lastLine = this.source.slice(this.source.lastIndexOf("\n") + 1)
    if (lastLine.trim() === "") this.syntax(place, "the file ends in a line of spaces; end it with a line break")
    return text.replace(/\n$/, "")
  }

  private tagged(tag: string | undefined, own: "map" | "seq", place: Place): boolean {
    if (tag === undefined || tag === "!" || tag === PREFIX + own) return true
    this.problem(new TagRefused({ ...this.at(place), tag: tagName(tag) }))
    return false
  }

  /** Checks the depth with aliases followed; the reader's own recursion is bounded by `collection`. */
  private nested<N extends DocumentNode>(node: N, place: Place): N {
    if (place.path.length + node.depth > MAX_DEPTH && this.problems.length === 0) {
      this.problem(new NestingTooDeep({ ...this.at(place), limit: MAX_DEPTH }))
    }
    return node
  }

  private at(place: Place) {
    return { path: renderPath(place.path), position: this.positionAt(place.offset) }
  }

  private syntax(place: Place, detail: string): void {
    this.problem(new YamlSyntaxInvalid({ ...this.at(place), detail }))
  }

  private nothing(problem: DocumentReason): DocumentNode {
    this.problem(problem)
    return scalar({ _tag: "Null" }, undefined)
  }

  private none(problem: DocumentReason): [] {
    this.problem(problem)
    return []
  }

  private problem(problem: DocumentReason): void {
    this.problems.push(problem)
  }
}

const isMergeKey = (key: YamlNode): boolean =>
  isScalar(key) && key.type === "PLAIN" && key.tag === undefined && key.source === "<<"

const tagName = (tag: string): string => (tag.startsWith(PREFIX) ? `!!${tag.slice(PREFIX.length)}` : tag)
