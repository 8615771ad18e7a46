/**
 * One temporary directory for a whole run of the tests. A test that kills a harness, as many do, cannot make it remove what it has
 * made, and two runs on one machine must not find each other's leftovers.
 */
import { mkdtempSync, realpathSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Every process of the run learns of it by its environment; the name is short because paths of sockets must be. */
export const setup = (): (() => Promise<void>) => {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "bo-"))
  process.env["TMPDIR"] = directory
  // A program that is being ended may still be writing there.
  return () => rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}
