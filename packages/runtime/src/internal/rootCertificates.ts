/** Needs `node:tls`: the root certificates that Node ships are reachable nowhere else. */
import { rootCertificates } from "node:tls"

/** Node's own root certificates as one PEM bundle, for environments that may have none. */
export const rootCertificatesPem = (): string => `${rootCertificates.join("\n")}\n`
