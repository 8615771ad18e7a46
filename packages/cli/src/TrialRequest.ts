/**
 * What a person asked for, as the flags of `run` say it. Pure; `TrialInputs` reads the files and variables it names.
 */
import type { AgentUsers } from "@buzz-orchestra/runtime/AgentUsers"
import { Result } from "effect"
import { UsageInvalid } from "./CommandError.ts"
import type { RelayOptions } from "./RelayOptions.ts"

/** The values of `--stack`, `--relay` and friends after parsing. Paths are as typed. */
export interface TrialRequest {
  /** As typed, for messages. */
  readonly command: string
  readonly manifest: string
  readonly instruction: { readonly text: string } | { readonly file: string }
  readonly endpoints: string
  /** Default: the manifest's directory. */
  readonly artifactRoot: string | undefined
  /** Default: `trials/<condition>-<time>`. */
  readonly out: string | undefined
  /** A directory, or `reference`. */
  readonly stack: string
  readonly relay: RelayRequest
  readonly uploads: ReadonlyArray<Upload>
  readonly relayGateway: string | undefined
  /** Names of environment variables. */
  readonly ownerKeyVariable: string | undefined
  readonly userKeyVariable: string | undefined
  readonly readinessSeconds: number | undefined
  /** What is copied out of the environment at the end. */
  readonly downloads?: ReadonlyArray<Download>
  /** The file that tells who else is on the relay. */
  readonly fixture?: string | undefined
  /** The task whose verifier grades what happened on the relay. */
  readonly evidenceFor?: string | undefined
  /** Default: one that names the time. */
  readonly runId?: string | undefined
  readonly channelLabel?: string | undefined
  readonly settleSeconds?: number | undefined
  /** 0 is no limit. */
  readonly maxAgentRounds?: number | undefined
  /** Directives for the agents' logs, beside those that the runtime needs. */
  readonly agentLog?: string | undefined
  /** Default: the runtime's. */
  readonly agentUsers?: AgentUsers
  readonly sweep: "stack" | "all"
  /** How this machine speaks with a relay that runs already. */
  readonly relayOptions?: RelayOptions
  /** The channel is not archived at the end, and the trial stays among those that are saved. */
  readonly keepsChannel?: boolean
  /** API keys that need no variable; the demo's scripted models are given one. */
  readonly knownKeys?: Readonly<Record<string, string>>
}

/** The relay of the trial: one inside this process, or one that runs already. */
export type RelayRequest =
  | { readonly _tag: "Embedded" }
  | { readonly _tag: "Running"; readonly url: string; readonly userUrl: string | undefined }

/** A file or folder of this machine and its absolute path in the environment. */
export interface Upload {
  readonly source: string
  readonly target: string
}

/** An absolute path in the environment, and where a copy of it goes on this machine. */
export interface Download {
  readonly source: string
  readonly target: string
}

/** The value of `--stack` that means the reference stack. */
export const REFERENCE_STACK = "reference"

/** Reads `FILE:PATH`. The last `:/` separates, so that file names may have colons. */
export const parseUpload = (text: string): Result.Result<Upload, UsageInvalid> => {
  const at = text.lastIndexOf(":/")
  return at > 0
    ? Result.succeed({ source: text.slice(0, at), target: text.slice(at + 1) })
    : Result.fail(
        new UsageInvalid({
          detail: `--upload ${text} is not FILE:PATH`,
          instead: "give the file, a colon, and an absolute path in the environment: --upload data.csv:/app/data.csv"
        })
      )
}

/** Reads `PATH:FILE`. The first colon separates, so that file names here may have colons. */
export const parseDownload = (text: string): Result.Result<Download, UsageInvalid> => {
  const at = text.indexOf(":")
  return text.startsWith("/") && at > 0 && at < text.length - 1
    ? Result.succeed({ source: text.slice(0, at), target: text.slice(at + 1) })
    : Result.fail(
        new UsageInvalid({
          detail: `--download ${text} is not PATH:FILE`,
          instead:
            "give an absolute path in the environment, a colon, and where it goes: --download /app/out.csv:out.csv"
        })
      )
}

/** Exactly one of the two ways to give an instruction, and not an empty one. */
export const parseInstruction = (
  text: string | undefined,
  file: string | undefined
): Result.Result<TrialRequest["instruction"], UsageInvalid> => {
  if (text !== undefined && file !== undefined) return Result.fail(instructionUsage("two instructions are given"))
  if (file !== undefined) return Result.succeed({ file })
  if (text === undefined || text.trim() === "") return Result.fail(instructionUsage("no instruction is given"))
  return Result.succeed({ text })
}

const instructionUsage = (detail: string) =>
  new UsageInvalid({ detail, instead: "give one: --instruction TEXT, or --instruction-file FILE" })

/** The relay that the flags ask for; `--user-relay` and `--relay-gateway` are other views of `--relay` and nothing alone. */
export const parseRelay = (
  url: string | undefined,
  userUrl: string | undefined,
  gateway?: string | undefined
): Result.Result<RelayRequest, UsageInvalid> => {
  if (url !== undefined) return Result.succeed({ _tag: "Running", url, userUrl })
  if (userUrl === undefined && gateway === undefined) return Result.succeed({ _tag: "Embedded" })
  return Result.fail(
    new UsageInvalid({
      detail: `${userUrl === undefined ? "--relay-gateway" : "--user-relay"} is given without --relay`,
      instead: "give the relay as the agents dial it with --relay, or leave both out for the embedded relay"
    })
  )
}

/** `2026-11-30T02:48:00Z` as `20261130T024800Z`, for names. */
export const compactTime = (millis: number): string =>
  new Date(millis)
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(/[-:]/g, "")

/** Where a trial goes unless `--out` says otherwise. The condition is free text, a directory name is not. */
export const defaultDirectory = (condition: string, millis: number): string =>
  `trials/${fileName(condition)}-${compactTime(millis)}`

/** Free text as part of a file name. */
export const fileName = (text: string): string =>
  text
    .replaceAll(/[^\w.-]+/g, "-")
    .replaceAll(/^[-.]+/g, "")
    .slice(0, 80) || "trial"
