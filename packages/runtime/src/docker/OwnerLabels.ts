/**
 * The labels on everything created in an engine: which trial it belongs to and which process of which host owns it, so that
 * what a killed harness left behind can be found and what a live one uses is never touched.
 */
import { Option, Schema } from "effect"

/** Every label's name starts with this. */
const PREFIX = "org.buzz-orchestra."

/** Who owns an object and why it is there. */
export const Owner = Schema.Struct({
  run: Schema.String,
  trial: Schema.String,
  /** Identity of the host: its boot id, so that a pid of an earlier boot is never taken for a live one. */
  host: Schema.String,
  pid: Schema.Int.pipe(Schema.check(Schema.isGreaterThan(0))),
  /** Field 22 of `/proc/<pid>/stat`, or what the platform has for it: tells a recycled pid from the owner. */
  pidStartTime: Schema.String,
  /** ISO 8601. */
  created: Schema.String
})
/** Who owns an object and why it is there. */
export type Owner = typeof Owner.Type

/** The labels that say so. */
export const toLabels = (owner: Owner): Record<string, string> => ({
  [`${PREFIX}run`]: owner.run,
  [`${PREFIX}trial`]: owner.trial,
  [`${PREFIX}host`]: owner.host,
  [`${PREFIX}pid`]: String(owner.pid),
  [`${PREFIX}pid-start-time`]: owner.pidStartTime,
  [`${PREFIX}created`]: owner.created
})

/** The label by whose presence an engine finds all our objects. */
export const OWNER_LABEL = `${PREFIX}host`

/** The owner of an object, when its labels are ours and whole. */
export const fromLabels = (labels: Readonly<Record<string, string>>): Option.Option<Owner> => {
  const label = (name: string) => labels[`${PREFIX}${name}`]
  return Schema.decodeUnknownOption(Owner)({
    run: label("run"),
    trial: label("trial"),
    host: label("host"),
    pid: Number(label("pid") ?? Number.NaN),
    pidStartTime: label("pid-start-time"),
    created: label("created")
  })
}

/** What is known about the processes of this host. */
export interface LiveHost {
  readonly host: string
  /** The start time of a process that lives here now. */
  readonly startTimeOf: (pid: number) => string | undefined
}

/** Whether an owner is certainly gone: same host, and no process with its pid and start time. */
export const isOrphaned = (owner: Owner, here: LiveHost): boolean =>
  owner.host === here.host && here.startTimeOf(owner.pid) !== owner.pidStartTime
