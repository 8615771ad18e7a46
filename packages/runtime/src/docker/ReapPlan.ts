/**
 * What of all that carries our labels may be removed, and why the rest may not. Pure: who lives is a parameter.
 */
import { Option } from "effect"
import type { OwnedObject } from "./ContainerEngine.ts"
import { fateOf, fromLabels, type LiveHost } from "./OwnerLabels.ts"

/** What is to become of one object. */
export interface ReapDecision {
  readonly object: OwnedObject
  readonly remove: boolean
  /** A sentence's end, such as `its owner, process 4242, is gone`. */
  readonly why: string
}

/** What the decision depends on beside the objects. */
export interface ReapRule {
  /** \`undefined\` where nothing is known of other processes: then nothing is removed. */
  readonly here: LiveHost | undefined
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Images that were built serve the next trial with the same content; they are kept so long. */
  readonly keepImagesMillis: number
}

/** Containers go first: what they use cannot be removed before them. */
const ORDER: ReadonlyArray<OwnedObject["kind"]> = ["container", "network", "volume", "image"]

/** A decision for each object, in the order in which they can be carried out. */
export const planReap = (objects: ReadonlyArray<OwnedObject>, rule: ReapRule): ReadonlyArray<ReapDecision> =>
  objects
    .toSorted((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind))
    .map((object) => decide(object, rule))

const decide = (object: OwnedObject, { here, keepImagesMillis, now }: ReapRule): ReapDecision => {
  const owner = Option.getOrUndefined(fromLabels(object.labels))
  const { isGone, why } = fateOf(owner, here)
  const isYoung = owner !== undefined && now - Date.parse(owner.created) < keepImagesMillis
  if (isGone && object.kind === "image" && isYoung)
    return { object, remove: false, why: "the next build of the same content uses it" }
  return { object, remove: isGone, why }
}
