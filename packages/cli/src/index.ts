/**
 * The `buzz-orchestra` command, its live view, its exit codes and its error texts, for programs that run trials themselves
 * and want to show them the same way.
 */
export * as EndOfTrial from "./EndOfTrial.ts"
export * as EventLines from "./EventLines.ts"
export * as ExitCode from "./ExitCode.ts"
export * as Failure from "./Failure.ts"
export * as JsonLines from "./JsonLines.ts"
export * as LiveView from "./LiveView.ts"
export * as Render from "./Render.ts"
