/**
 * Images as archives that an engine loads, made here from nothing but files: no registry, no build, and the same bytes, so
 * the same image id, every time.
 */
import { createHash } from "node:crypto"
import { TAR_END, tarHeader, tarPadding } from "../../../src/internal/tarFormat.ts"

/** A file, folder or link of an image. Everything belongs to root. */
export type ImageEntry =
  | { readonly path: string; readonly content: Uint8Array; readonly mode?: number }
  | { readonly path: string; readonly link: string }
  | { readonly path: string; readonly folder: true; readonly mode?: number }

/** What an image says about itself; names as in the OCI image configuration. */
export interface ImageConfig {
  readonly User?: string
  readonly WorkingDir?: string
  readonly Entrypoint?: ReadonlyArray<string>
  readonly Cmd?: ReadonlyArray<string>
  readonly Env?: ReadonlyArray<string>
}

const PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

/** A layer, as a tar archive. */
export const layerOf = (entries: ReadonlyArray<ImageEntry>): Uint8Array =>
  Buffer.concat([...entries.flatMap(entryBytes), TAR_END])

const entryBytes = (entry: ImageEntry): ReadonlyArray<Uint8Array> => {
  const common = { path: entry.path, mode: 0o777, modified: 0, size: 0, link: "" }
  if ("link" in entry) return [tarHeader({ ...common, type: "symlink", link: entry.link })]
  if ("folder" in entry) return [tarHeader({ ...common, type: "directory", mode: entry.mode ?? 0o755 })]
  const { content, mode = 0o644 } = entry
  return [tarHeader({ ...common, type: "file", mode, size: content.length }), content, tarPadding(content.length)]
}

/** What `docker load` and `podman load` take. `architecture` as Go names it. */
export const imageArchive = (
  name: string,
  layers: ReadonlyArray<Uint8Array>,
  config: ImageConfig,
  architecture: string
): Uint8Array => {
  const digests = layers.map(sha256)
  const description = Buffer.from(
    JSON.stringify({
      architecture,
      os: "linux",
      created: "1970-01-01T00:00:00Z",
      config: { Env: [PATH], Cmd: ["sh"], ...config },
      rootfs: { type: "layers", diff_ids: digests.map((digest) => `sha256:${digest}`) },
      history: layers.map(() => ({ created: "1970-01-01T00:00:00Z", created_by: "test" }))
    })
  )
  const id = sha256(description)
  const manifest = [{ Config: `${id}.json`, RepoTags: [name], Layers: digests.map((digest) => `${digest}.tar`) }]
  return layerOf([
    { path: `${id}.json`, content: description },
    ...layers.map((content, at) => ({ path: `${digests[at]}.tar`, content })),
    { path: "manifest.json", content: Buffer.from(JSON.stringify(manifest)) }
  ])
}
