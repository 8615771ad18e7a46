/**
 * A full file system ends an environment: nothing more can be put into it, and what runs there fails in its own ways.
 */
import { Effect } from "effect"
import { EnvironmentError, EnvironmentLost, type TransferFailed } from "../../EnvironmentError.ts"
import { EnvironmentService } from "../../EnvironmentService.ts"
import { quote } from "../../internal/shellText.ts"

/** As libc and busybox say ENOSPC and EDQUOT. */
const FULL = /no space left on device|disk quota exceeded/i

/** The environment, whose uploads fail with `EnvironmentLost` and the file system's own numbers when it is full. */
export const fullDiskIsLoss = (environment: EnvironmentService["Service"]): EnvironmentService["Service"] => {
  const explained = <A>(upload: Effect.Effect<A, EnvironmentError>) =>
    Effect.catchIf(upload, isFull, (error) =>
      Effect.flatMap(evidence(environment, error.reason), (detail) => Effect.fail(lossOf(error, detail)))
    )
  return EnvironmentService.of({
    ...environment,
    upload: (source, target, options) => explained(environment.upload(source, target, options)),
    uploadDirectory: (source, target) => explained(environment.uploadDirectory(source, target))
  })
}

type FullDisk = EnvironmentError & { readonly reason: TransferFailed }

const isFull = (error: EnvironmentError): error is FullDisk =>
  error.reason._tag === "TransferFailed" && FULL.test(error.reason.detail)

const lossOf = ({ operation, reason: cause }: FullDisk, detail: string): EnvironmentError =>
  new EnvironmentError({
    operation,
    reason: new EnvironmentLost({ environment: cause.environment, detail, exitCode: undefined, cause })
  })

/** The numbers of the file system that holds the path, or the nearest directory above that exists. */
const evidence = ({ exec }: EnvironmentService["Service"], { detail, path }: TransferFailed) =>
  exec(
    `at=${quote(path)}; while [ ! -e "$at" ] && [ -n "$at" ]; do at=\${at%/*}; done; df -Pk -- "\${at:-/}" | tail -n 1`,
    { cwd: "/" }
  ).pipe(
    Effect.map(({ stdout }) => /^\S+\s+(\d+)\s+(\d+)\s+(\d+)\s+\S+\s+(\S.*)$/.exec(stdout.trim())),
    Effect.map((row) =>
      row === null ? "" : `; ${row[4]} has ${row[1]} KiB, of which ${row[3]} are free without what did not fit`
    ),
    // What is full may be what a command needs.
    Effect.orElseSucceed(() => ""),
    Effect.map((numbers) => `no space is left in it: ${detail.split("\n")[0]}${numbers}`)
  )
