/**
 * `host:port` as the forwarder's command line has it. Pure.
 */

/** Where to listen or connect. */
export interface SocketAddress {
  /** Name or IP literal; IPv6 without its brackets. */
  readonly host: string
  /** 0–65535; 0 lets the system choose when listening. */
  readonly port: number
}

/** Reads `host:port` or `[ipv6]:port`; `undefined` when it is neither. */
export const parse = (text: string): SocketAddress | undefined => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]]+)):(\d{1,5})$/.exec(text)
  if (match === null) return undefined
  const port = Number(match[3])
  return port > 65_535 ? undefined : { host: match[1] ?? match[2] ?? "", port }
}
