/**
 * Stand-ins for the programs of the Buzz stack. The programs themselves are files, not modules: see `ReferenceStack`.
 */
export * as ReferenceStack from "./ReferenceStack.ts"
