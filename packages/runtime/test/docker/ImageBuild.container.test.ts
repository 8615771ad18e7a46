/** Images of Dockerfile directories. */
import { assert, layer } from "@effect/vitest"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { ContainerEngine } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import { CONTENT_LABEL, RUN_LABEL } from "@buzz-orchestra/runtime/docker/OwnerLabels"
import { Effect, FileSystem } from "effect"
import { output } from "../support/environment.ts"
import { containerTests } from "./support/containerTests.ts"
import { docker, engineLayer, environmentOf, image, RUN } from "./support/engine.ts"

/** A directory that builds upon the busybox image; what is built from it is removed with the scope. */
const directoryOf = Effect.fnUntraced(function* (dockerfile: string) {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  const base = yield* image("busybox")
  yield* fs.writeFileString(`${directory}/Dockerfile`, `FROM ${base}\n${dockerfile}`)
  yield* fs.writeFileString(`${directory}/data`, `${directory}\n`)
  return directory
})

/** Builds, looks inside, and returns what the build said. */
const build = Effect.fnUntraced(function* (directory: string) {
  const lines: Array<string> = []
  const onProgress = (line: string) => Effect.sync(() => void lines.push(line))
  const source = { _tag: "Dockerfile", directory } as const
  const seen = yield* Effect.gen(function* () {
    const { facts } = yield* EnvironmentService
    yield* Effect.addFinalizer(() =>
      Effect.promise(() =>
        docker
          .getImage(facts.container?.image.id ?? "")
          .remove({ force: true })
          .catch(() => {})
      )
    )
    return { data: yield* output("cat /task/data"), work: facts.workDirectory, image: facts.container?.image }
  }).pipe(Effect.provide(environmentOf("busybox", { source, onProgress })))
  return { lines, ...seen }
})

const GOOD = 'WORKDIR /task\nCOPY data .\nRUN echo built >made\nENTRYPOINT ["/bin/false"]\n'

containerTests("ImageBuild", () => {
  layer(engineLayer, { excludeTestServices: true })((it) => {
    it.effect("builds once per content, with its progress, and labels what it built", () =>
      Effect.gen(function* () {
        const engine = yield* ContainerEngine
        const directory = yield* directoryOf(GOOD)
        const first = yield* build(directory)
        assert.isTrue(first.lines.some((line) => line.includes("RUN echo built")))
        assert.deepStrictEqual([first.data, first.work], [`${directory}\n`, "/task"])
        const labels = (yield* engine.inspectImage(first.image?.reference ?? ""))?.labels ?? {}
        assert.match(labels[CONTENT_LABEL] ?? "", /^[0-9a-f]{64}$/)
        assert.strictEqual(labels[RUN_LABEL], RUN)
        const second = yield* build(directory)
        assert.deepStrictEqual([second.lines, second.image], [[], first.image])
      })
    )

    it.effect("fails with what the build said, and leaves no container of it", () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(build(yield* directoryOf("RUN exit 3\n")))
        assert.match(error.message, /the image of .* could not be created: .*(non-zero code: 3|exit status 3)/)
        const containers = yield* Effect.promise(() => docker.listContainers({ all: true }))
        assert.deepStrictEqual(
          containers.map(({ Command }) => Command).filter((command) => command.includes("exit 3")),
          []
        )
      })
    )

    it.effect("fails without a Dockerfile", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const error = yield* Effect.flip(build(yield* fs.makeTempDirectoryScoped()))
        assert.include(error.message, "Dockerfile")
      })
    )
  })
})
