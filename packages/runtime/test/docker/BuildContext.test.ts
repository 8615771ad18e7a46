import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { Effect, FileSystem, Stream } from "effect"
import { readBuildContext } from "@buzz-orchestra/runtime/docker/BuildContext"

/** A directory with these files; a name that ends in a slash is a folder. */
const directoryOf = Effect.fnUntraced(function* (files: Readonly<Record<string, string>>) {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  for (const [name, content] of Object.entries(files)) {
    yield* fs.makeDirectory(`${directory}/${name.slice(0, name.lastIndexOf("/") + 1)}`, { recursive: true })
    if (!name.endsWith("/")) yield* fs.writeFileString(`${directory}/${name}`, content)
  }
  return directory
})

/** What `tar` finds in the archive. */
const listing = Effect.fnUntraced(function* (directory: string) {
  const { archive } = yield* readBuildContext(directory)
  const parts = yield* Stream.runCollect(archive)
  return execFileSync("tar", ["-tf", "-"], { input: Buffer.concat(parts), encoding: "utf8" })
    .trim()
    .split("\n")
})

const digest = (directory: string) => Effect.map(readBuildContext(directory), (context) => context.digest)

const FILES = { Dockerfile: "FROM scratch\n", "app/run.sh": "#!/bin/sh\n", "empty/": "" }

layer(NodeServices.layer)("readBuildContext", (it) => {
  it.effect("archives files, folders and links in order", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* directoryOf(FILES)
      yield* fs.symlink("run.sh", `${directory}/app/link`)
      assert.deepStrictEqual(yield* listing(directory), ["Dockerfile", "app/", "app/link", "app/run.sh", "empty/"])
    })
  )

  it.effect("leaves out what .dockerignore says, but never the Dockerfile", () =>
    Effect.gen(function* () {
      const directory = yield* directoryOf({ ...FILES, ".dockerignore": "*\n!app/run.sh\n", "app/secret": "x" })
      assert.deepStrictEqual(yield* listing(directory), [".dockerignore", "Dockerfile", "app/", "app/run.sh"])
    })
  )

  it.effect("gives the same content the same digest wherever and whenever it lies, and any change another", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const first = yield* directoryOf(FILES)
      const second = yield* directoryOf(FILES)
      yield* fs.utimes(`${second}/Dockerfile`, new Date(0), new Date(0))
      const before = yield* digest(first)
      assert.strictEqual(yield* digest(second), before)
      yield* fs.chmod(`${second}/app/run.sh`, 0o755)
      const changed = yield* digest(second)
      assert.notStrictEqual(changed, before)
      yield* fs.writeFileString(`${second}/app/run.sh`, "#!/bin/sh -e\n")
      assert.notStrictEqual(yield* digest(second), changed)
    })
  )

  it.effect("names the images that it builds upon, not its own stages", () =>
    Effect.gen(function* () {
      const directory = yield* directoryOf({
        Dockerfile:
          "# FROM comment\nARG V=1\nFROM --platform=linux/amd64 debian:12 AS base\nfrom base as next\nFROM x:$V\nFROM scratch\nCOPY --from=base / /\n"
      })
      assert.deepStrictEqual((yield* readBuildContext(directory)).bases, ["debian:12"])
    })
  )

  it.effect("fails without a Dockerfile, and says which file is missing", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(readBuildContext(yield* directoryOf({ "a.txt": "" })))
      assert.match(error.message, /Dockerfile/)
    })
  )
})
