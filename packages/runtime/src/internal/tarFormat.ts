/**
 * The tar format, as far as folders need it: ustar headers with GNU long names, which GNU tar, busybox and bsdtar write and
 * read; pax headers are understood. Pure.
 */
import { concat } from "./markedFrames.ts"

export interface TarEntry {
  readonly type: "file" | "directory" | "symlink" | "hardlink" | "other"
  /** As it stands in the archive, without a trailing slash. */
  readonly path: string
  readonly mode: number
  /** Seconds after the epoch. */
  readonly modified: number
  readonly size: number
  /** Target of a link. */
  readonly link: string
}

export const TAR_BLOCK = 512

/** Zeros that fill the last block of a file. */
export const tarPadding = (size: number): Uint8Array => new Uint8Array((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK)

/** Two empty blocks end an archive. */
export const TAR_END: Uint8Array = new Uint8Array(2 * TAR_BLOCK)

const TYPES = { file: "0", directory: "5", symlink: "2" } as const

/** The header blocks of an entry. Its content and `tarPadding` follow. Owner and group are 0. */
export const tarHeader = (entry: TarEntry & { readonly type: keyof typeof TYPES }): Uint8Array => {
  const path = encoder.encode(entry.type === "directory" ? `${entry.path}/` : entry.path)
  const link = encoder.encode(entry.link)
  const { mode, modified, size } = entry
  const header = block({ path, link, type: TYPES[entry.type], mode, modified, size })
  return [...longName("K", link), ...longName("L", path), header].reduce(concat)
}

export const NAME_BYTES = 100

const longName = (type: string, name: Uint8Array): ReadonlyArray<Uint8Array> => {
  if (name.length < NAME_BYTES) return []
  const content = concat(name, new Uint8Array(1))
  const path = encoder.encode("././@LongLink")
  const header = block({ path, link: new Uint8Array(0), type, mode: 0o644, modified: 0, size: content.length })
  return [header, content, tarPadding(content.length)]
}

interface Block {
  readonly path: Uint8Array
  readonly link: Uint8Array
  readonly type: string
  readonly mode: number
  readonly modified: number
  readonly size: number
}

const block = ({ link, mode, modified, path, size, type }: Block): Uint8Array => {
  const header = new Uint8Array(TAR_BLOCK)
  const text = (at: number, value: string) => header.set(encoder.encode(value), at)
  const octal = (at: number, length: number, value: number) =>
    text(at, `${value.toString(8).padStart(length - 1, "0")}\0`)
  header.set(path.subarray(0, NAME_BYTES), 0)
  octal(100, 8, mode)
  octal(108, 8, 0)
  octal(116, 8, 0)
  if (size < 8 ** 11) octal(124, 12, size)
  else setBase256(header, size)
  octal(136, 12, Math.max(0, modified))
  text(148, "        ")
  text(156, type)
  header.set(link.subarray(0, NAME_BYTES), 157)
  text(257, "ustar  \0")
  const checksum = header.reduce((sum, byte) => sum + byte, 0)
  octal(148, 7, checksum)
  return header
}

/** Sizes of 8 GiB and more. */
const setBase256 = (header: Uint8Array, size: number): void => {
  let rest = size
  for (let at = 135; at > 124; at--) {
    header[at] = rest % 256
    rest = Math.floor(rest / 256)
  }
  header[124] = 0x80
}

const encoder = new TextEncoder()
