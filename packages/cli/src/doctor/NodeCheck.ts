/**
 * Whether this Node can run the packages. Pure.
 */
import type { Finding } from "./Finding.ts"

/** The first that runs them; `engines` of the packages says the same. */
const OLDEST = { major: 22, minor: 19 }

/** `version` is `process.versions.node`. */
export const checkNode = (version: string): Finding => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const isNew = major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)
  return isNew
    ? { topic: "node", status: "ok", detail: version }
    : {
        topic: "node",
        status: "missing",
        detail: `${version} is too old`,
        next: `install Node ${OLDEST.major}.${OLDEST.minor} or later`
      }
}
