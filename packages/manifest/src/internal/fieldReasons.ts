/**
 * Turns what a schema says about a plain value into reasons that name the place in the document.
 */
import type { SchemaAST, SchemaIssue } from "effect"
import { describe, type DocumentNode, type ManifestDocument } from "../DocumentNode.ts"
import { type FieldPath, renderPath } from "../FieldPath.ts"
import { FieldInvalid, FieldMissing, type FieldReason, FieldUnknown } from "../FieldReason.ts"
import type { Position } from "../Position.ts"
import { NUMERAL } from "./fieldNumber.ts"
import { nearest } from "./nearest.ts"

/** The reasons for a schema's issue, in the schema's order. A closed document has no `metadata`. */
export const fieldReasons = (
  issue: SchemaIssue.Issue,
  document: ManifestDocument,
  isClosed = false
): ReadonlyArray<FieldReason> => leaves(issue, []).map((leaf) => fieldReason(leaf, document, isClosed))

/** The path and, for files, the position of a field: of its value, or of its key for a field as a whole. */
export const placeOf = (
  document: ManifestDocument,
  path: FieldPath,
  part: "key" | "value" = "value"
): { readonly path: string; readonly position?: Position } => {
  const found = find(document, path)
  const offset = part === "key" ? (found.keyOffset ?? found.offset) : found.offset
  return offset === undefined || document.positionAt === undefined
    ? { path: renderPath(path) }
    : { path: renderPath(path), position: document.positionAt(offset) }
}

interface Leaf {
  readonly path: FieldPath
  readonly problem: "unknown" | "missing" | "invalid"
  /** The schema of the field; for unknown fields that of the mapping. */
  readonly ast: SchemaAST.AST | undefined
  readonly expected: string
}

const leaves = (issue: SchemaIssue.Issue, path: FieldPath, ast?: SchemaAST.AST): ReadonlyArray<Leaf> => {
  switch (issue._tag) {
    case "Pointer": {
      const inner = issue.path.map((key) => (typeof key === "number" ? key : String(key)))
      return leaves(issue.issue, [...path, ...inner], fieldAst(ast, inner[0]))
    }
    case "Composite":
      return issue.issues.flatMap((each) => leaves(each, path, issue.ast))
    case "AnyOf":
      return issue.issues.length === 1 && issue.issues[0] !== undefined
        ? leaves(issue.issues[0], path, issue.ast)
        : [{ path, problem: "invalid", ast: issue.ast, expected: expectedOf(issue.ast) }]
    case "Encoding":
      return leaves(issue.issue, path, ast)
    case "Filter":
      return [{ path, problem: "invalid", ast, expected: issue.filter.annotations?.expected ?? "another value" }]
    case "MissingKey":
      return [{ path, problem: "missing", ast, expected: ast === undefined ? "a value" : expectedOf(ast) }]
    case "UnexpectedKey":
      return [{ path, problem: "unknown", ast: issue.ast, expected: "" }]
    case "InvalidType":
    case "OneOf":
      return [{ path, problem: "invalid", ast: issue.ast, expected: expectedOf(issue.ast) }]
    default:
      return [{ path, problem: "invalid", ast, expected: ast === undefined ? "another value" : expectedOf(ast) }]
  }
}

const fieldReason = (leaf: Leaf, document: ManifestDocument, isClosed: boolean): FieldReason => {
  if (leaf.problem === "unknown") {
    const suggestion = nearest(String(leaf.path.at(-1)), fieldNames(leaf.ast))
    const place = { ...placeOf(document, leaf.path, "key"), ...(isClosed ? { isClosed } : {}) }
    return suggestion === undefined ? new FieldUnknown(place) : new FieldUnknown({ ...place, suggestion })
  }
  const { expected } = leaf
  const { node } = find(document, leaf.path)
  if (leaf.problem === "missing" || node === undefined) {
    return new FieldMissing({ ...placeOf(document, leaf.path), expected })
  }
  const invalid = { ...placeOf(document, leaf.path), expected, found: describe(node) }
  const advice = adviceFor(node, leaf.ast)
  return advice === undefined ? new FieldInvalid(invalid) : new FieldInvalid({ ...invalid, advice })
}

/** The node at `path`; for one that is not there, the offset of the innermost collection around it. */
const find = (document: ManifestDocument, path: FieldPath) => {
  let node: DocumentNode | undefined = document.root
  let keyOffset: number | undefined
  let offset = document.root.offset
  for (const step of path) {
    const entry: { readonly keyOffset?: number | undefined; readonly value: DocumentNode } | undefined =
      node?._tag === "Mapping"
        ? node.entries.get(String(step))
        : node?._tag === "Sequence" && node.items[Number(step)] !== undefined
          ? { value: node.items[Number(step)]! }
          : undefined
    node = entry?.value
    if (node === undefined) break
    keyOffset = entry?.keyOffset
    offset = node.offset
  }
  return { node, keyOffset, offset }
}

const adviceFor = (node: DocumentNode, ast: SchemaAST.AST | undefined): string | undefined => {
  switch (node._tag) {
    case "Boolean":
    case "Integer":
    case "Float":
    case "Timestamp":
      return accepts(ast, "String") ? "put it in quotes if you mean text" : undefined
    case "Text":
      if (!accepts(ast, "Number") || !NUMERAL.test(node.value)) return undefined
      return node.plain
        ? "YAML 1.1 reads it as text; write an integer without a leading 0 or exponent"
        : "remove the quotes"
    default:
      return undefined
  }
}

const accepts = (ast: SchemaAST.AST | undefined, tag: "String" | "Number"): boolean =>
  ast !== undefined && (ast._tag === tag || (ast._tag === "Union" && ast.types.some((type) => accepts(type, tag))))

const expectedOf = (ast: SchemaAST.AST): string => {
  const expected = ast.checks?.at(-1)?.annotations?.["expected"] ?? ast.annotations?.["expected"]
  if (typeof expected === "string") return expected
  switch (ast._tag) {
    case "Null":
      return "null"
    case "Boolean":
      return "true or false"
    case "Number":
      return "a number"
    case "String":
      return "text"
    case "Arrays":
      return "a list"
    case "Objects":
      return "a mapping"
    case "Literal":
      return `\`${String(ast.literal)}\``
    case "Union":
      return alternatives(ast.types.map(expectedOf))
    default:
      return "another value"
  }
}

const alternatives = (all: ReadonlyArray<string>): string =>
  all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`

const fieldNames = (ast: SchemaAST.AST | undefined): ReadonlyArray<string> =>
  ast?._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []

const fieldAst = (ast: SchemaAST.AST | undefined, key: string | number | undefined): SchemaAST.AST | undefined =>
  ast?._tag === "Objects" ? ast.propertySignatures.find(({ name }) => name === key)?.type : undefined
