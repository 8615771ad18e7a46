/**
 * An error as a person reads it: one line, the detail, what to do next. Complete by type: a reason without a rendering
 * fails the type-check. Pure.
 */
import { ManifestError, type ManifestReason, type ManifestWarning } from "@buzz-orchestra/manifest/ManifestError"
import { ProvisioningError } from "@buzz-orchestra/relay/ProvisioningError"
import { RelayError } from "@buzz-orchestra/relay/RelayError"
import { EnvironmentError } from "@buzz-orchestra/runtime/EnvironmentError"
import { RuntimeLaunchError } from "@buzz-orchestra/runtime/RuntimeLaunchError"
import { CommandError } from "./CommandError.ts"
import { REASON_CODES, type Reason } from "./ExitCode.ts"
import { commandRenderings } from "./internal/commandRenderings.ts"
import { launchRenderings } from "./internal/launchRenderings.ts"
import { manifestRenderings, NEXT_OF_FILES } from "./internal/manifestRenderings.ts"
import { relayRenderings } from "./internal/relayRenderings.ts"
import { oneLine } from "./internal/terminalText.ts"
import type { Rendered, Renderings } from "./internal/rendering.ts"
import type { Style } from "./Style.ts"

/** The typed errors that commands end with. */
export type KnownError =
  | CommandError
  | EnvironmentError
  | ManifestError
  | ProvisioningError
  | RelayError
  | RuntimeLaunchError

/** An error, rendered. */
export interface Failure {
  /** Tag of the reason: what `docs` and `--json` call it. */
  readonly reason: string
  readonly exitCode: number
  /** Who or what, and what happened. */
  readonly line: string
  readonly detail: ReadonlyArray<string>
  /** What to do next. */
  readonly next: string
}

const RENDERINGS: Renderings<Reason> = {
  ...commandRenderings,
  ...launchRenderings,
  ...relayRenderings,
  ...manifestRenderings
}

/** Whether `error` is one that commands are expected to end with. Anything else is a bug. */
export const isKnown = (error: unknown): error is KnownError =>
  error instanceof CommandError ||
  error instanceof EnvironmentError ||
  error instanceof ManifestError ||
  error instanceof ProvisioningError ||
  error instanceof RelayError ||
  error instanceof RuntimeLaunchError

/** `error`, rendered. */
export const fromError = (error: KnownError): Failure => {
  const { reason } = error
  const { line, detail, next } = renderReason(reason)
  return {
    reason: reason._tag,
    exitCode: REASON_CODES[reason._tag],
    line: oneLine(`${place(error)}${line}`),
    detail: [...(detail ?? []), ...more(error)].map(oneLine),
    next: error._tag === "ManifestError" ? (NEXT_OF_FILES[error.operation] ?? next) : next
  }
}

/** A warning of a manifest, with its place. */
export const warningLine = (warning: ManifestWarning, source: string | undefined, style: Style): string =>
  `${style.bold("warning:")} ${position(warning, source)}${warning.message}`

/** One reason, without the error around it. */
export const renderReason = (reason: Reason): Rendered =>
  // The table is typed tag by tag; the lookup loses the link between the tag and its reason.
  (RENDERINGS[reason._tag] as (reason: Reason) => Rendered)(reason)

/** The failure as lines for stderr. */
export const lines = (failure: Failure, style: Style): ReadonlyArray<string> => [
  `${style.bad("error:")} ${failure.line}`,
  ...failure.detail.map((line) => `  ${line}`),
  ...(failure.next === "" ? [] : [`${style.bold("next:")} ${failure.next}`])
]

/** What stands before the reason's sentence. */
const place = (error: KnownError): string => {
  switch (error._tag) {
    case "CommandError":
    case "EnvironmentError":
      return ""
    case "ManifestError":
      return position(error.reason, error.source)
    case "ProvisioningError":
      return "provisioning: "
    case "RelayError":
      return `${error.operation}: `
    case "RuntimeLaunchError":
      return `${error.phase}: `
  }
}

/** Further problems of the same file, each with its place. */
const more = (error: KnownError): ReadonlyArray<string> =>
  error._tag === "ManifestError" && error.others !== undefined
    ? error.others.map((reason) => `${position(reason, error.source)}${reason.message}`)
    : []

/** `file:line:column: field: `, as much of it as is known. */
const position = (reason: ManifestReason | ManifestWarning, source: string | undefined): string => {
  const at =
    "position" in reason && reason.position !== undefined ? `:${reason.position.line}:${reason.position.column}` : ""
  const file = source === undefined ? "" : `${source}${at}: `
  return file + ("path" in reason && reason.path !== "" ? `${reason.path}: ` : "")
}
