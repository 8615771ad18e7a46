/**
 * Which machine a program is made for, read from its ELF header, so that a stack of another architecture is refused before
 * it is uploaded and not by an `Exec format error` inside.
 */

/** Bytes of a file's head that `elfMachine` needs. */
export const ELF_HEAD_BYTES = 20

/** `e_machine` values (ELF specification) as `uname -m` names them. */
const MACHINES: ReadonlyMap<number, string> = new Map([
  [3, "i686"],
  [40, "armv7l"],
  [62, "x86_64"],
  [183, "aarch64"],
  [243, "riscv64"]
])

/** The machine as `uname -m` names it; `undefined` for a script or a machine not known here, which are left to the kernel. */
export const elfMachine = (head: Uint8Array): string | undefined => {
  if (head.length < ELF_HEAD_BYTES || String.fromCharCode(...head.subarray(0, 4)) !== "\x7fELF") return undefined
  const littleEndian = head[5] === 1
  return MACHINES.get(new DataView(head.buffer, head.byteOffset, head.byteLength).getUint16(18, littleEndian))
}
