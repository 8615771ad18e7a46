/**
 * The certificates that a stack's TLS trusts.
 */
import { Effect, FileSystem } from "effect"
import { rootCertificatesPem } from "./rootCertificates.ts"

/** The bundle at `path`, by default Node's own root certificates. Fails when the file cannot be read. */
export const readCaBundle = (path: string | undefined) =>
  path === undefined
    ? Effect.succeed(new TextEncoder().encode(rootCertificatesPem()))
    : FileSystem.FileSystem.use((fs) => fs.readFile(path))
