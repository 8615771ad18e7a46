/**
 * Under which of its URLs a client may have dialled the relay, by the `Host` header it sent. A relay that is bound to its hosts
 * serves nobody who names another one, as one does that tells its tenants apart by their names.
 */

/** The URLs of a relay, and whether it is bound to them. */
export interface Hosted {
  /** The `ws(s)://` URLs under which clients may dial this relay; the first is the canonical one. */
  readonly urls: readonly [string, ...ReadonlyArray<string>]
  /** Whether it answers only requests whose `Host` header names one of them. */
  readonly isHostBound: boolean
}

/**
 * The URLs that a signature may name, the likeliest first; none where the host is not the relay's. Hosts are compared as they
 * are written, but for their case and a port that goes without saying: `localhost` and `127.0.0.1` are two tenants.
 */
export const urlsFor = ({ isHostBound, urls }: Hosted, host: string | undefined): ReadonlyArray<string> => {
  const presented = host?.toLowerCase()
  const named = urls.filter((url) => presented !== undefined && authoritiesOf(url).includes(presented))
  return isHostBound ? named : [...named, ...urls.filter((url) => !named.includes(url))]
}

/** With and without the scheme's own port. */
const authoritiesOf = (url: string): ReadonlyArray<string> => {
  const { host, port, protocol } = new URL(url)
  return port === "" ? [host, `${host}:${protocol === "wss:" ? 443 : 80}`] : [host]
}
