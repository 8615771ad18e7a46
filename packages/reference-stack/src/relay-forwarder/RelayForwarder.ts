/**
 * The program `relay-forwarder <listen-addr> <target-addr>`: says `forwarding <listen> -> <target>` on stdout once clients
 * can connect, and forwards until it is ended.
 */
import { Effect } from "effect"
import { ProgramExit } from "../Program.ts"
import { forward, type ListenFailed } from "./Forwarder.ts"
import { parse } from "./SocketAddress.ts"

/** Runs until interrupted. `args` are the arguments after the program's name. Exit 2 for usage, 1 when it cannot listen. */
export const relayForwarder = (args: ReadonlyArray<string>): Effect.Effect<never, ProgramExit> =>
  Effect.scoped(
    Effect.gen(function* () {
      const [listenText, targetText] = args
      if (args.length !== 2 || listenText === undefined || targetText === undefined)
        return yield* new ProgramExit({ code: 2, stderr: "usage: relay-forwarder <listen-addr> <target-addr>" })
      const listen = parse(listenText)
      const target = parse(targetText)
      if (listen === undefined || target === undefined)
        return yield* new ProgramExit({
          code: 1,
          stderr: `Error: Custom { kind: InvalidInput, error: "invalid socket address" }`
        })
      yield* Effect.mapError(
        forward(listen, target),
        (failure) => new ProgramExit({ code: 1, stderr: rustError(failure) })
      )
      yield* Effect.sync(() => process.stdout.write(`forwarding ${listenText} -> ${targetText}\n`))
      return yield* Effect.never
    })
  )

/** The form in which the real program dies; launchers look for `AddrInUse`. */
const rustError = (failure: ListenFailed): string =>
  `Error: Os { code: ${failure.errno}, kind: ${RUST_KINDS[failure.code] ?? "Uncategorized"}, message: ${JSON.stringify(failure.detail)} }`

const RUST_KINDS: Readonly<Record<string, string | undefined>> = {
  EADDRINUSE: "AddrInUse",
  EADDRNOTAVAIL: "AddrNotAvailable",
  EACCES: "PermissionDenied"
}
