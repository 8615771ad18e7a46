import { Effect } from "effect"

/** Loaded when a bundle is read: it brings the runtime's documents, which other commands can do without. */
export const importBundleCommands = Effect.promise(() => import("../BundleCommands.ts"))
