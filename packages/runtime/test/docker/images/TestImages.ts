/**
 * The images of the container tests, each with one peculiarity. Made when they are first asked for, in seconds, and found
 * again by a name that says what they were made from.
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import Docker from "dockerode"
import { imageArchive, type ImageConfig, type ImageEntry, layerOf } from "./ImageArchive.ts"

const BUSYBOX = "/bin/busybox"
const MUSL_LOADER = "/lib/ld-musl-x86_64.so.1"

const REPOSITORY = "buzz-orchestra-test"

interface Recipe {
  readonly layers: () => ReadonlyArray<Uint8Array>
  readonly config?: ImageConfig
  /** As Go names it; default: this machine's. */
  readonly architecture?: string
}

/** What this machine must have for an image. */
export const canMake = {
  busybox: existsSync(BUSYBOX),
  bash: existsSync("/usr/bin/dpkg"),
  musl: existsSync(MUSL_LOADER)
}

const HERE = process.arch === "x64" ? "amd64" : process.arch

/** ELF `e_machine` of a processor that this machine has not. */
const FOREIGN_MACHINE = process.arch === "arm64" ? 62 : 183
const FOREIGN = process.arch === "arm64" ? "amd64" : "arm64"

const folders: ReadonlyArray<ImageEntry> = [
  ...["bin", "etc", "proc", "sys", "dev", "root", "opt", "home"].map((path) => ({ path, folder: true as const })),
  { path: "tmp", folder: true, mode: 0o1777 }
]

const accounts: ReadonlyArray<ImageEntry> = [
  {
    path: "etc/passwd",
    content: Buffer.from(
      "root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000::/home:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"
    )
  },
  { path: "etc/group", content: Buffer.from("root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n") }
]

const busybox = (name: string): ImageEntry => ({ path: name, content: readFileSync(BUSYBOX), mode: 0o755 })

/** Busybox under the names of all its applets. */
const busyboxLayer = once(() => {
  const applets = execFileSync(BUSYBOX, ["--list"], { encoding: "utf8" }).trim().split("\n")
  return layerOf([
    ...folders,
    ...accounts,
    busybox("bin/busybox"),
    ...applets.filter((applet) => applet !== "busybox").map((applet) => ({ path: `bin/${applet}`, link: "busybox" }))
  ])
})

const debianLayer = (packages: ReadonlyArray<string>) =>
  once(() => {
    const folder = mkdtempSync(join(tmpdir(), "image-"))
    try {
      const out = join(folder, "root.tar")
      execFileSync("sh", [fileURLToPath(new URL("debian-root.sh", import.meta.url)), out, ...packages])
      return readFileSync(out)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

/** bash and what every Debian has, but no procps, Python, curl or certificates. */
const BASH_PACKAGES = ["bash", "dash", "coreutils", "util-linux", "findutils", "grep", "sed", "tar", "libc6"]

const bashLayer = debianLayer(BASH_PACKAGES)
const nodeLayer = debianLayer([...BASH_PACKAGES, "libstdc++6", "libgcc-s1", "libatomic1"])

/** A program header that no machine here runs. */
const foreignProgram = (): Uint8Array => {
  const program = Buffer.from(readFileSync(BUSYBOX))
  program.writeUInt16LE(FOREIGN_MACHINE, 18)
  return program
}

const recipes = {
  busybox: { layers: () => [busyboxLayer()] },
  bash: { layers: () => [bashLayer()], config: { WorkingDir: "/app" } },
  /** Node's libraries; Node itself comes with the stack. */
  node: { layers: () => [nodeLayer()], config: { WorkingDir: "/app" } },
  musl: {
    layers: () => [
      busyboxLayer(),
      layerOf([
        { path: "lib", folder: true },
        { path: MUSL_LOADER.slice(1), content: readFileSync(MUSL_LOADER), mode: 0o755 },
        { path: "etc/alpine-release", content: Buffer.from("3.20.0\n") }
      ])
    ]
  },
  nonRoot: {
    layers: () => [bashLayer(), layerOf([{ path: "app", folder: true }])],
    config: { User: "agent", WorkingDir: "/app" }
  },
  entrypoint: { layers: () => [busyboxLayer()], config: { Entrypoint: ["/bin/echo", "swallowed"] } },
  noShell: { layers: () => [layerOf([...folders, busybox("sleep")])], config: { Cmd: ["/sleep", "1000"] } },
  /** Says that it is for another processor, and is. */
  foreign: {
    layers: () => [layerOf([...folders, { path: "bin/sh", content: foreignProgram(), mode: 0o755 }])],
    architecture: FOREIGN
  },
  /** Says that it is for another processor, and runs, as it does where an emulator is set up. */
  emulated: { layers: () => [busyboxLayer()], architecture: FOREIGN }
} satisfies Record<string, Recipe>

export type TestImage = keyof typeof recipes

function once<A>(make: () => A): () => A {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

/** Makes the image known to the engine; returns its name. */
export const loadImage = async (docker: Docker, image: TestImage): Promise<string> => {
  const recipe: Recipe = recipes[image]
  const name = `${REPOSITORY}/${image.toLowerCase()}:${versionOf(image)}`
  const known = await docker
    .getImage(name)
    .inspect()
    .then(() => true)
    .catch(() => false)
  if (known) return name
  const archive = imageArchive(name, recipe.layers(), recipe.config ?? {}, recipe.architecture ?? HERE)
  const response = await docker.loadImage(Readable.from([archive]))
  await new Promise((resolve, reject) => response.on("end", resolve).on("error", reject).resume())
  return name
}

/** Changes with the recipes and with the packages that images are made from. */
const versionOf = (image: TestImage): string =>
  createHash("sha256").update(`${recipeText()} ${image}`).digest("hex").slice(0, 12)

const recipeText = once(() => {
  const files = ["TestImages.ts", "ImageArchive.ts", "debian-root.sh"].map((file) =>
    readFileSync(new URL(file, import.meta.url))
  )
  const packages = canMake.bash ? execFileSync("dpkg-query", ["-W", ...BASH_PACKAGES, "libstdc++6"]) : ""
  return [...files, packages, canMake.busybox ? readFileSync(BUSYBOX) : ""].join("\n")
})
