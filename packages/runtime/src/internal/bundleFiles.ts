/** Names of the documents that tell of a whole trial. */

/** The last of the bundle. */
export const SUMMARY = "summary.json"
/** The last of all, for Harbor's tools. */
export const RESULT = "result.json"
/** The first, for Harbor's tools. */
export const CONFIG = "config.json"
export const TIMING = "timing.json"
export const ARTIFACTS = "artifacts/manifest.json"
export const TRANSCRIPT = "transcript.json"
export const RECEIPTS = "receipts.jsonl"
