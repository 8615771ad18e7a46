/**
 * Where this checkout lies.
 */
import { fileURLToPath } from "node:url"

/** The root, without a trailing slash. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "")
