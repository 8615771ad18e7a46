/**
 * Where the stack lies in an environment. A value, never a constant: an image whose `/opt` cannot be written gets another root.
 */

export interface Layout {
  /** `/opt/buzz` unless it cannot be written. */
  readonly root: string
  /** The programs and nothing else: what runs from here belongs to the sweep. */
  readonly bin: string
  /** One system prompt per agent, mode 0600. */
  readonly prompts: string
  /** `<agent>.stdout.log`, `<agent>.stderr.log`, `<agent>.pid`, the same for `relay-forwarder`. What the watch follows. */
  readonly logs: string
  /** PEM bundle for `SSL_CERT_FILE`. Outside `bin`, so that neither chmod nor sweep take it for a program. */
  readonly caBundle: string
}

/** The layout below `root` (no trailing slash). */
export const layoutAt = (root: string): Layout => ({
  root,
  bin: `${root}/bin`,
  prompts: `${root}/prompts`,
  logs: `${root}/logs`,
  caBundle: `${root}/ca-certificates.crt`
})

/** Where the stack goes unless the environment forbids it. */
export const DEFAULT_LAYOUT: Layout = layoutAt("/opt/buzz")
