/**
 * A container of this machine's own programs, for trying things out without any image: its root is empty but for a few links
 * and files, and the programs are mounted read-only from here. Nothing of it comes from a registry.
 */
import type { ContainerMount } from "@buzz-orchestra/runtime/docker/ContainerSpec"
import { Effect, FileSystem, Option, Path, type PlatformError, type Scope } from "effect"

/** What such a container is made from: the directory of its image, and what is mounted into it. */
export interface ThisMachine {
  /** With a Dockerfile; the scope removes it. Its content depends on nothing but the layout of this machine. */
  readonly directory: string
  readonly mounts: ReadonlyArray<ContainerMount>
}

/** Programs and libraries. What is a link here, such as \`/bin\` on a merged \`/usr\`, is a link there. */
const PROGRAMS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/etc/alternatives"]

/** Users and names that programs look up. */
const FILES = {
  passwd: "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
  group: "root:x:0:\nnogroup:x:65534:\n",
  "nsswitch.conf": "hosts: files dns\n"
}

/** Fails when the directory cannot be made. */
export const thisMachine: Effect.Effect<
  ThisMachine,
  PlatformError.PlatformError,
  FileSystem.FileSystem | Path.Path | Scope.Scope
> = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* fs.makeTempDirectoryScoped({ prefix: "buzz-image-" })
  const root = path.join(directory, "root")
  yield* fs.writeFileString(path.join(directory, "Dockerfile"), "FROM scratch\nCOPY root /\n")
  yield* fs.makeDirectory(path.join(root, "etc"), { recursive: true })
  yield* Effect.forEach(Object.entries(FILES), ([name, text]) => fs.writeFileString(path.join(root, "etc", name), text))
  const mounts: Array<ContainerMount> = []
  for (const place of PROGRAMS) {
    const link = yield* Effect.option(fs.readLink(place))
    if (Option.isSome(link)) yield* fs.symlink(link.value, path.join(root, place))
    else if (yield* fs.exists(place)) mounts.push({ source: place, target: place, readOnly: true })
  }
  return { directory, mounts }
})
