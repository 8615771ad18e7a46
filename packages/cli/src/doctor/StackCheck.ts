/**
 * Whether the reference stack is there, built if it has to be. Trials with a stack of their own do not need it.
 */
import * as StackFiles from "@buzz-orchestra/runtime/StackFiles"
import { Effect, FileSystem } from "effect"
import { fromError } from "../Failure.ts"
import * as ReferenceStackFiles from "../ReferenceStackFiles.ts"
import type { Finding } from "./Finding.ts"

/** `node` is the Node that builds it. */
export const checkStack = Effect.fn("StackCheck.checkStack")(
  function* (node: string) {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* Effect.mapError(ReferenceStackFiles.locate(node, "doctor"), fromError)
    const { programs } = yield* StackFiles.fromDirectory(directory)
    const absent = yield* Effect.filter(Object.keys(programs), (name) =>
      Effect.map(
        Effect.orElseSucceed(fs.exists(programs[name] ?? ""), () => false),
        (exists) => !exists
      )
    )
    return absent.length === 0
      ? ok(directory)
      : missing(
          `${absent.join(", ")} is not in ${directory}`,
          "install the package @buzz-orchestra/reference-stack again"
        )
  },
  Effect.catch(({ detail, line, next }) => Effect.succeed(missing([line, ...detail].join("; "), next)))
)

const ok = (directory: string): Finding => ({
  topic: "stack",
  status: "ok",
  detail: `the reference stack is in ${directory}`
})

const missing = (detail: string, next: string): Finding => ({ topic: "stack", status: "missing", detail, next })
