/**
 * What can go wrong while the stack is put into an environment.
 */
import { Schema } from "effect"
import { EnvironmentReason } from "../EnvironmentError.ts"

/** Programs of the stack are not where they should be, or not to be read. */
export class BinaryMissing extends Schema.TaggedError<BinaryMissing>()("BinaryMissing", {
  /** All of them at once. `detail` is what the platform says of a file that is there and cannot be read. */
  missing: Schema.NonEmptyArray(
    Schema.Struct({ name: Schema.String, path: Schema.String, detail: Schema.optionalKey(Schema.String) })
  )
}) {
  override get message(): string {
    const programs = this.missing.map(
      ({ detail, name, path }) => `${name} is not at ${path}${detail === undefined ? "" : ` (${detail})`}`
    )
    return `binary not found: ${programs.join(", ")}; check the stack directory`
  }
}

/** Programs of a stack directory are there and may not be executed, as after a download that keeps no modes. */
export class BinaryNotExecutable extends Schema.TaggedError<BinaryNotExecutable>()("BinaryNotExecutable", {
  /** All of them at once. */
  programs: Schema.NonEmptyArray(Schema.Struct({ name: Schema.String, path: Schema.String }))
}) {
  override get message(): string {
    const paths = this.programs.map(({ path }) => path).join(" ")
    const are = this.programs.length === 1 ? "is" : "are"
    return `not executable: ${this.programs.map(({ name }) => name).join(", ")} ${are} no program yet; run chmod +x ${paths}`
  }
}

/** The root certificates for the agents cannot be read on this machine. */
export class CaBundleMissing extends Schema.TaggedError<CaBundleMissing>()("CaBundleMissing", {
  path: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `CA bundle not found: ${this.path} cannot be read (${this.detail}); give a PEM file, or none to use Node's`
  }
}

/** No directory in the environment can hold the stack. */
export class LayoutNotWritable extends Schema.TaggedError<LayoutNotWritable>()("LayoutNotWritable", {
  environment: Schema.String,
  /** Roots that were tried, in order. */
  roots: Schema.Array(Schema.String),
  detail: Schema.String
}) {
  override get message(): string {
    return (
      `nowhere to put the stack in ${this.environment}: cannot create ${this.roots.join(" or ")} (${this.detail}); ` +
      "run the environment as a user who may write one of them"
    )
  }
}

/** The environment reported an upload as done, and the file is not there, as happens with paths below a tmpfs. */
export class UploadNotThere extends Schema.TaggedError<UploadNotThere>()("UploadNotThere", {
  environment: Schema.String,
  /** Path inside the environment. */
  path: Schema.String
}) {
  override get message(): string {
    return (
      `${this.path} was uploaded into ${this.environment} and is not there: ` +
      "its directory is probably a tmpfs mount that uploads cannot reach; use another one"
    )
  }
}

/** A file has other bytes inside the environment than on this machine. Digests are sha256, 64 hex. */
export class DigestDiffers extends Schema.TaggedError<DigestDiffers>()("DigestDiffers", {
  environment: Schema.String,
  /** Path inside the environment. */
  path: Schema.String,
  expected: Schema.String,
  actual: Schema.String
}) {
  override get message(): string {
    return (
      `${this.path} in ${this.environment} has sha256 ${this.actual} instead of ${this.expected}: ` +
      "the upload was cut short or something there replaces files; check free space and run again"
    )
  }
}

/** The environment has no bash, which the agents' shell tool runs every command with. */
export class BashMissing extends Schema.TaggedError<BashMissing>()("BashMissing", {
  environment: Schema.String
}) {
  override get message(): string {
    return `no bash in ${this.environment}: buzz-dev-mcp runs every command with it; install bash in the image`
  }
}

/** A program was built for another processor than the environment has. Architectures as `uname -m` names them. */
export class ArchitectureMismatch extends Schema.TaggedError<ArchitectureMismatch>()("ArchitectureMismatch", {
  environment: Schema.String,
  name: Schema.String,
  path: Schema.String,
  /** Of the environment. */
  expected: Schema.String,
  /** Of the program. */
  actual: Schema.String
}) {
  override get message(): string {
    return (
      `wrong architecture: ${this.name} (${this.path}) is built for ${this.actual}, ` +
      `${this.environment} is ${this.expected}; use a stack for ${this.expected}`
    )
  }
}

/** Everything that installing the stack can meet. */
export const InstallReason = Schema.Union([
  BinaryMissing,
  BinaryNotExecutable,
  CaBundleMissing,
  LayoutNotWritable,
  UploadNotThere,
  DigestDiffers,
  BashMissing,
  ArchitectureMismatch,
  ...EnvironmentReason.members
])

/** Everything that installing the stack can meet. */
export type InstallReason = typeof InstallReason.Type
