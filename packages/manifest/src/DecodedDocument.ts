/**
 * Reads a decoded JavaScript value as a document: what `JSON.parse` returns, or an object written in a program.
 *
 * JavaScript has one type of number. An integral one is an integer here, any other a float; a `bigint` is an integer
 * of any size. A member that is `undefined` counts as absent, as in JSON.
 */
import { Result } from "effect"
import {
  describe,
  type DocumentNode,
  type ManifestDocument,
  mapping,
  MAX_DEPTH,
  MAX_EXPANDED_LENGTH,
  scalar,
  sequence
} from "./DocumentNode.ts"
import {
  type DocumentReason,
  ExpansionTooLarge,
  NestingTooDeep,
  NumberNotFinite,
  RootNotMapping,
  TextNotUnicode,
  ValueNotDocument
} from "./DocumentReason.ts"
import { type FieldPath, renderPath } from "./FieldPath.ts"

/** Reads a decoded value. Every problem found is returned. */
export const fromValue = (value: unknown): Result.Result<ManifestDocument, ReadonlyArray<DocumentReason>> => {
  const reader = new ValueReader()
  const root = reader.read(value, [])
  if (reader.problems.length > 0) return Result.fail(reader.problems)
  if (root._tag !== "Mapping") return Result.fail([new RootNotMapping({ path: "", found: describe(root) })])
  return root.length > MAX_EXPANDED_LENGTH
    ? Result.fail([new ExpansionTooLarge({ path: "", limit: MAX_EXPANDED_LENGTH })])
    : Result.succeed({ root })
}

class ValueReader {
  readonly problems: Array<DocumentReason> = []
  /** An object met before is read once, so that shared objects cost nothing and a cycle is seen. */
  private readonly seen = new Map<object, DocumentNode | "open">()

  read(value: unknown, path: FieldPath): DocumentNode {
    switch (typeof value) {
      case "boolean":
        return scalar({ _tag: "Boolean", value }, undefined)
      case "bigint":
        return scalar({ _tag: "Integer", value }, undefined)
      case "number":
        return this.number(value, path)
      case "string":
        if (!value.isWellFormed()) this.problems.push(new TextNotUnicode({ path: renderPath(path) }))
        return scalar({ _tag: "Text", value, plain: false }, undefined)
      case "object":
        return value === null ? NOTHING : this.object(value, path)
      default:
        return this.nothing(new ValueNotDocument({ path: renderPath(path), found: `a value of type ${typeof value}` }))
    }
  }

  private number(value: number, path: FieldPath): DocumentNode {
    if (!Number.isFinite(value)) {
      return this.nothing(new NumberNotFinite({ path: renderPath(path), found: String(value) }))
    }
    return Number.isInteger(value)
      ? scalar({ _tag: "Integer", value: BigInt(value) }, undefined)
      : scalar({ _tag: "Float", value }, undefined)
  }

  private object(value: object, path: FieldPath): DocumentNode {
    const seen = this.seen.get(value)
    if (seen === "open" || path.length + (seen?.depth ?? 0) > MAX_DEPTH) {
      return this.nothing(new NestingTooDeep({ path: renderPath(path), limit: MAX_DEPTH }))
    }
    if (seen !== undefined) return seen
    this.seen.set(value, "open")
    const node = Array.isArray(value) ? this.array(value, path) : this.members(value, path)
    this.seen.set(value, node)
    return node
  }

  private array(value: ReadonlyArray<unknown>, path: FieldPath): DocumentNode {
    return sequence(
      Array.from(value, (item, index) => this.read(item, [...path, index])),
      undefined
    )
  }

  private members(value: object, path: FieldPath): DocumentNode {
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== null && prototype !== Object.prototype) {
      const found = `an object of class ${value.constructor.name}`
      return this.nothing(new ValueNotDocument({ path: renderPath(path), found }))
    }
    const present = Object.entries(value).filter(([, member]) => member !== undefined)
    const entries = present.map(([key, member]) => {
      if (!key.isWellFormed()) this.problems.push(new TextNotUnicode({ path: renderPath([...path, key]) }))
      return [key, { keyOffset: undefined, value: this.read(member, [...path, key]) }] as const
    })
    return mapping(new Map(entries), undefined)
  }

  private nothing(problem: DocumentReason): DocumentNode {
    this.problems.push(problem)
    return NOTHING
  }
}

const NOTHING = scalar({ _tag: "Null" }, undefined)
