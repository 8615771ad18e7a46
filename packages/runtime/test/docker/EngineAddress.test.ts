import { NodeServices } from "@effect/platform-node"
import { engineAddress } from "@buzz-orchestra/runtime/docker/EngineAddress"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem } from "effect"
import { createHash } from "node:crypto"

/** The address with these variables, and `DOCKER_CONFIG` for a directory with these files. The scope removes it. */
const addressWith = Effect.fnUntraced(function* (
  variables: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {}
) {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  for (const [name, content] of Object.entries(files)) {
    yield* fs.makeDirectory(`${directory}/${name.slice(0, name.lastIndexOf("/") + 1)}`, { recursive: true })
    yield* fs.writeFileString(`${directory}/${name}`, content)
  }
  const provider = ConfigProvider.fromUnknown({ DOCKER_CONFIG: directory, ...variables })
  return { directory, address: engineAddress.pipe(Effect.provide(ConfigProvider.layer(provider))) }
})

/** The `docker` program names a context's directory by the sha256 of its name. */
const id = (name: string) => createHash("sha256").update(name).digest("hex")

const meta = (name: string, host: string) => ({
  [`contexts/meta/${id(name)}/meta.json`]: JSON.stringify({ Name: name, Endpoints: { docker: { Host: host } } })
})

layer(NodeServices.layer)("engineAddress", (it) => {
  it.effect("takes the context that a variable or the configuration names, with its certificates", () =>
    Effect.gen(function* () {
      const files = {
        "config.json": JSON.stringify({ currentContext: "remote", auths: {} }),
        ...meta("remote", "tcp://remote:2376"),
        ...meta("here", "unix:///run/here.sock"),
        [`contexts/tls/${id("remote")}/docker/ca.pem`]: ""
      }
      const current = yield* addressWith({}, files)
      const directory = `${current.directory}/contexts/tls/${id("remote")}/docker`
      assert.deepStrictEqual(yield* current.address, {
        _tag: "Tcp",
        host: "remote",
        port: 2376,
        tls: { directory, verify: true }
      })
      const chosen = yield* addressWith({ DOCKER_CONTEXT: "here" }, files)
      assert.deepStrictEqual(yield* chosen.address, { _tag: "Unix", path: "/run/here.sock" })
      const host = yield* addressWith({ DOCKER_CONTEXT: "here", DOCKER_HOST: "unix:///other.sock" }, files)
      assert.deepStrictEqual(yield* host.address, { _tag: "Unix", path: "/other.sock" })
    }).pipe(Effect.scoped)
  )

  it.effect("says which context cannot be read, and which file is none", () =>
    Effect.gen(function* () {
      const missing = yield* addressWith({ DOCKER_CONTEXT: "nowhere" })
      assert.match((yield* Effect.flip(missing.address)).message, /context "nowhere" cannot be read/)
      const broken = yield* addressWith({}, { "config.json": "{" })
      assert.match((yield* Effect.flip(broken.address)).message, /config\.json cannot be read/)
    }).pipe(Effect.scoped)
  )

  it.effect("takes Podman's socket of the user where Docker's is not there", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const runtime = yield* fs.makeTempDirectoryScoped()
      yield* fs.makeDirectory(`${runtime}/podman`)
      yield* fs.writeFileString(`${runtime}/podman/podman.sock`, "")
      const found = yield* (yield* addressWith({ XDG_RUNTIME_DIR: runtime })).address
      const hasDocker = yield* fs.exists("/var/run/docker.sock")
      assert.deepStrictEqual(found, {
        _tag: "Unix",
        path: hasDocker ? "/var/run/docker.sock" : `${runtime}/podman/podman.sock`
      })
    }).pipe(Effect.scoped)
  )
})
