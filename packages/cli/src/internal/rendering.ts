/**
 * The form of the tables that render reasons.
 */

export interface Rendered {
  readonly line: string
  readonly detail?: ReadonlyArray<string>
  readonly next: string
}

/** One rendering for each member of the union. */
export type Renderings<Reason extends { readonly _tag: string }> = {
  readonly [Tag in Reason["_tag"]]: (reason: Extract<Reason, { readonly _tag: Tag }>) => Rendered
}
