/**
 * Reads a tar archive as it arrives, in chunks of any size. Pure.
 */
import { concat } from "./markedFrames.ts"
import { NAME_BYTES, TAR_BLOCK, type TarEntry, tarPadding } from "./tarFormat.ts"

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

export type TarToken =
  | { readonly _tag: "Entry"; readonly entry: TarEntry }
  /** Content of the entry before. */
  | { readonly _tag: "Content"; readonly bytes: Uint8Array }
  /** The content of the entry before is complete. */
  | { readonly _tag: "EntryEnd" }
  /** The archive is complete. */
  | { readonly _tag: "End" }

interface Overrides {
  readonly path?: string
  readonly link?: string
  readonly size?: number
}

export interface TarState {
  readonly held: Uint8Array
  /** Bytes of content still to come, and of the padding after it. */
  readonly left: number
  readonly padding: number
  /** What the entry under way is: content to hand out, or a name or attributes for the entry after it. */
  readonly under: "content" | "L" | "K" | "x" | undefined
  readonly collected: Uint8Array
  readonly overrides: Overrides
  readonly ended: boolean
}

const NOTHING = new Uint8Array(0)

export const initialTar: TarState = {
  held: NOTHING,
  left: 0,
  padding: 0,
  under: undefined,
  collected: NOTHING,
  overrides: {},
  ended: false
}

/** Takes the next chunk of an archive. What follows its end is ignored. */
export const feedTar = (before: TarState, chunk: Uint8Array): readonly [TarState, ReadonlyArray<TarToken>] => {
  const tokens: Array<TarToken> = []
  const bytes = concat(before.held, chunk)
  let state: TarState = before
  let at = 0
  while (!state.ended) {
    if (state.under !== undefined) {
      const taken = bytes.subarray(at, at + state.left)
      at += taken.length
      state = { ...state, left: state.left - taken.length }
      if (state.under !== "content") state = { ...state, collected: concat(state.collected, taken) }
      else if (taken.length > 0) tokens.push({ _tag: "Content", bytes: taken })
      if (state.left > 0 || bytes.length - at < state.padding) break
      at += state.padding
      if (state.under === "content") tokens.push({ _tag: "EntryEnd" })
      state = finishUnder(state)
    }
    if (bytes.length - at < TAR_BLOCK) break
    const header = bytes.subarray(at, at + TAR_BLOCK)
    at += TAR_BLOCK
    if (header.every((byte) => byte === 0)) {
      state = { ...state, ended: true }
      tokens.push({ _tag: "End" })
    } else state = begin(state, header, tokens)
  }
  return [{ ...state, held: state.ended ? NOTHING : bytes.slice(at) }, tokens]
}

const begin = (state: TarState, header: Uint8Array, tokens: Array<TarToken>): TarState => {
  const type = String.fromCharCode(header[156] ?? 0)
  const isMeta = type === "L" || type === "K" || type === "x"
  const size = isMeta || state.overrides.size === undefined ? number(header, 124, 12) : state.overrides.size
  const common = { left: size, padding: tarPadding(size).length, collected: NOTHING }
  if (isMeta) return { ...state, ...common, under: type }
  // Attributes of the whole archive: nothing of them concerns names or content.
  if (type === "g") return { ...state, ...common, under: "x", overrides: {} }
  const prefix = string(header, 257, 8) === "ustar" ? string(header, 345, 155) : ""
  const short = string(header, 0, NAME_BYTES)
  const path = state.overrides.path ?? (prefix === "" ? short : `${prefix}/${short}`)
  tokens.push({
    _tag: "Entry",
    entry: {
      type: typeOf(type),
      path: path.replace(/(?<=.)\/+$/, ""),
      mode: number(header, 100, 8),
      modified: number(header, 136, 12),
      size,
      link: state.overrides.link ?? string(header, 157, NAME_BYTES)
    }
  })
  return { ...state, ...common, under: "content", overrides: {} }
}

const typeOf = (type: string): TarEntry["type"] => {
  switch (type) {
    case "0":
    case "\0":
    case "7":
      return "file"
    case "1":
      return "hardlink"
    case "2":
      return "symlink"
    case "5":
      return "directory"
    default:
      return "other"
  }
}

const finishUnder = (state: TarState): TarState => {
  const text = decoder.decode(state.collected)
  const done = { ...state, under: undefined, collected: NOTHING, padding: 0 } as const
  switch (state.under) {
    case "L":
      return { ...done, overrides: { ...state.overrides, path: text.replace(/\0.*$/s, "") } }
    case "K":
      return { ...done, overrides: { ...state.overrides, link: text.replace(/\0.*$/s, "") } }
    case "x":
      return { ...done, overrides: { ...state.overrides, ...paxOverrides(state.collected) } }
    default:
      return done
  }
}

/** Records `<length> <key>=<value>\n`; the length counts bytes. */
const paxOverrides = (bytes: Uint8Array): Overrides => {
  let overrides: Overrides = {}
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const length = Number(decoder.decode(bytes.subarray(at, space)))
    if (space === -1 || !(length > 0)) return overrides
    const record = decoder.decode(bytes.subarray(space + 1, at + length - 1))
    const [key = ""] = record.split("=", 1)
    const value = record.slice(key.length + 1)
    if (key === "path") overrides = { ...overrides, path: value }
    if (key === "linkpath") overrides = { ...overrides, link: value }
    if (key === "size") overrides = { ...overrides, size: Number(value) }
    at += length
  }
  return overrides
}

const string = (header: Uint8Array, at: number, length: number): string =>
  decoder
    .decode(header.subarray(at, at + length))
    .replace(/[\0 ]*$/, "")
    .replace(/\0.*$/s, "")

const number = (header: Uint8Array, at: number, length: number): number => {
  const field = header.subarray(at, at + length)
  if (((field[0] ?? 0) & 0x80) !== 0) return field.slice(1).reduce((value, byte) => value * 256 + byte, 0)
  return Number.parseInt(decoder.decode(field).replace(/[\0 ]+/g, ""), 8) || 0
}
