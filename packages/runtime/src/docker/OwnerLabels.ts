/**
 * The labels on everything created in an engine: which trial it belongs to and which process of which host owns it, so that
 * what a killed harness left behind can be found and what a live one uses is never touched.
 */
import { Option, Schema } from "effect"

/** Every label's name starts with this. */
const PREFIX = "org.buzz-orchestra."

/** The label that names the run. */
export const RUN_LABEL = `${PREFIX}run`

/** Who owns an object and why it is there. */
export const Owner = Schema.Struct({
  run: Schema.String,
  trial: Schema.String,
  /** The machine, the same after it was started anew; empty when it cannot be told from others. */
  machine: Schema.String,
  /** Where the pid means something: `<boot id>/<pid namespace>`, so that a pid from elsewhere is never taken for one of here. */
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
  [RUN_LABEL]: owner.run,
  [`${PREFIX}trial`]: owner.trial,
  [`${PREFIX}machine`]: owner.machine,
  [`${PREFIX}host`]: owner.host,
  [`${PREFIX}pid`]: String(owner.pid),
  [`${PREFIX}pid-start-time`]: owner.pidStartTime,
  [`${PREFIX}created`]: owner.created
})

/** The label by whose presence an engine finds all our objects. */
export const OWNER_LABEL = `${PREFIX}host`

/** On images that were built: sha256 of what they were built from, 64 hex digits. */
export const CONTENT_LABEL = `${PREFIX}content`

/** The owner of an object, when its labels are ours and whole. */
export const fromLabels = (labels: Readonly<Record<string, string>>): Option.Option<Owner> => {
  const label = (name: string) => labels[`${PREFIX}${name}`]
  return Schema.decodeUnknownOption(Owner)({
    run: label("run"),
    trial: label("trial"),
    machine: label("machine"),
    host: label("host"),
    pid: Number(label("pid") ?? Number.NaN),
    pidStartTime: label("pid-start-time"),
    created: label("created")
  })
}

/** What is known about the processes of this host. */
export interface LiveHost {
  readonly machine: string
  readonly host: string
  /** The start time of a process that lives here now. */
  readonly startTimeOf: (pid: number) => string | undefined
}

/**
 * Whether an owner is certainly gone: it was here and no process has its pid and start time, or it ran on this machine
 * before the machine was started anew. Of other namespaces and machines nothing is known.
 */
export const isOrphaned = (owner: Owner, here: LiveHost): boolean =>
  owner.host === here.host
    ? here.startTimeOf(owner.pid) !== owner.pidStartTime
    : owner.machine !== "" && owner.machine === here.machine && bootOf(owner.host) !== bootOf(here.host)

const bootOf = (host: string): string => host.slice(0, host.indexOf("/"))

/** What became of an owner, as far as it can be told here. `why` is a sentence's end, such as `its owner, process 4, lives`. */
export const fateOf = (
  owner: Owner | undefined,
  here: LiveHost | undefined
): { readonly isGone: boolean; readonly why: string } => {
  if (owner === undefined) return { isGone: false, why: "its labels are not whole" }
  if (here === undefined) return { isGone: false, why: "this machine cannot tell whether its owner lives" }
  const process = `its owner, process ${owner.pid},`
  if (isOrphaned(owner, here)) return { isGone: true, why: `${process} is gone` }
  const why = owner.host === here.host ? "lives" : "ran elsewhere, of which nothing is known here"
  return { isGone: false, why: `${process} ${why}` }
}
