/**
 * Reasons for which a document cannot be read at all, before any field is looked at: files, YAML, nesting, size.
 */
import { Schema } from "effect"
import { at } from "./internal/at.ts"

/** The file cannot be opened or read. */
export class ManifestUnreadable extends Schema.TaggedError<ManifestUnreadable>()("ManifestUnreadable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "cannot be read: check that it exists and that you may read it"
  }
}

/** The file is larger than a manifest may be; `limit` in bytes. */
export class DocumentTooLarge extends Schema.TaggedError<DocumentTooLarge>()("DocumentTooLarge", {
  limit: Schema.Int
}) {
  override get message(): string {
    return `the file is larger than ${this.limit} bytes: a manifest names artifacts, it does not hold them`
  }
}

/** The bytes, or an escape in a text, do not make Unicode text. */
export class TextNotUnicode extends Schema.TaggedError<TextNotUnicode>()("TextNotUnicode", { ...at }) {
  override get message(): string {
    return "the text is not valid Unicode: save the file as UTF-8, and write characters themselves instead of surrogate escapes"
  }
}

/** A character that YAML 1.1 does not allow, or reads as a line break that editors do not show. */
export class CharacterRefused extends Schema.TaggedError<CharacterRefused>()("CharacterRefused", {
  ...at,
  /** As `U+0007`. */
  character: Schema.String
}) {
  override get message(): string {
    return `the character ${this.character} may not stand in YAML as it is: write it as an escape in double quotes`
  }
}

/** The text is not YAML; `detail` is the parser's sentence. */
export class YamlSyntaxInvalid extends Schema.TaggedError<YamlSyntaxInvalid>()("YamlSyntaxInvalid", {
  ...at,
  detail: Schema.String
}) {
  override get message(): string {
    return `not valid YAML: ${this.detail}`
  }
}

/** More than one document in the stream. */
export class SeveralDocuments extends Schema.TaggedError<SeveralDocuments>()("SeveralDocuments", { ...at }) {
  override get message(): string {
    return "a second document begins here: a file holds one manifest; remove the `---` or split the file"
  }
}

/** The root of the document is not a mapping. */
export class RootNotMapping extends Schema.TaggedError<RootNotMapping>()("RootNotMapping", {
  ...at,
  found: Schema.String
}) {
  override get message(): string {
    return `the root must be a mapping, found ${this.found}`
  }
}

/** A key stands twice in one mapping. */
export class DuplicateKey extends Schema.TaggedError<DuplicateKey>()("DuplicateKey", {
  ...at,
  key: Schema.String
}) {
  override get message(): string {
    return `the key ${JSON.stringify(this.key)} stands twice in this mapping: keep one`
  }
}

/** A key that is not text. */
export class KeyNotText extends Schema.TaggedError<KeyNotText>()("KeyNotText", {
  ...at,
  found: Schema.String
}) {
  override get message(): string {
    return `a key must be text, found ${this.found}: put it in quotes`
  }
}

/** An infinite number or one that is not a number. */
export class NumberNotFinite extends Schema.TaggedError<NumberNotFinite>()("NumberNotFinite", {
  ...at,
  found: Schema.String
}) {
  override get message(): string {
    return `${this.found} is not a finite number, and JSON has no way to write it: use a finite number, or quote it as text`
  }
}

/** A tag, or a plain `=` or `<<`, that has no meaning in a manifest. */
export class TagRefused extends Schema.TaggedError<TagRefused>()("TagRefused", {
  ...at,
  tag: Schema.String
}) {
  override get message(): string {
    return `${this.tag} has no meaning in a manifest: remove it, or put the value in quotes if you mean text`
  }
}

/** A scalar that is not what its form or its tag says, such as `2026-02-30` or `!!int x`. */
export class ScalarInvalid extends Schema.TaggedError<ScalarInvalid>()("ScalarInvalid", {
  ...at,
  text: Schema.String,
  expected: Schema.String
}) {
  override get message(): string {
    return `${JSON.stringify(this.text)} is not ${this.expected}: correct it, or put it in quotes if you mean text`
  }
}

/** What follows `<<` is neither a mapping nor a list of mappings. */
export class MergeRefused extends Schema.TaggedError<MergeRefused>()("MergeRefused", {
  ...at,
  found: Schema.String
}) {
  override get message(): string {
    return `\`<<\` merges a mapping or a list of mappings, found ${this.found}`
  }
}

/** Collections inside collections beyond the limit, or a value that contains itself. */
export class NestingTooDeep extends Schema.TaggedError<NestingTooDeep>()("NestingTooDeep", {
  ...at,
  limit: Schema.Int
}) {
  override get message(): string {
    return `nested deeper than ${this.limit} levels, or a value that contains itself: flatten it`
  }
}

/** With every alias written out the document would be larger than the limit, in characters. */
export class ExpansionTooLarge extends Schema.TaggedError<ExpansionTooLarge>()("ExpansionTooLarge", {
  ...at,
  limit: Schema.Int
}) {
  override get message(): string {
    return `with its aliases written out this is longer than ${this.limit} characters: use fewer aliases of aliases`
  }
}

/** A value that no document can hold, such as a function or a `Date`; only in decoded values. */
export class ValueNotDocument extends Schema.TaggedError<ValueNotDocument>()("ValueNotDocument", {
  ...at,
  found: Schema.String
}) {
  override get message(): string {
    return `${this.found} cannot stand in a manifest: use null, booleans, numbers, text, arrays and plain objects`
  }
}

/** Reasons for which a document cannot be read at all. */
export const DocumentReason = Schema.Union([
  ManifestUnreadable,
  DocumentTooLarge,
  TextNotUnicode,
  CharacterRefused,
  YamlSyntaxInvalid,
  SeveralDocuments,
  RootNotMapping,
  DuplicateKey,
  KeyNotText,
  NumberNotFinite,
  TagRefused,
  ScalarInvalid,
  MergeRefused,
  NestingTooDeep,
  ExpansionTooLarge,
  ValueNotDocument
])

/** Reasons for which a document cannot be read at all. */
export type DocumentReason = typeof DocumentReason.Type
