/** Containers that are not ours, and harnesses that get killed. */
import { Effect, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { docker } from "./engine.ts"

type Options = Parameters<typeof docker.createContainer>[0]

/** A container that somebody else made, running; its id. The scope removes it. */
export const running = (options: Options) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      docker.createContainer({
        Cmd: ["sleep", "1000"],
        ...options,
        HostConfig: { NetworkMode: "none", ...options.HostConfig }
      })
    ),
    // It may be what the test removes.
    (container) => Effect.promise(() => container.remove({ force: true }).catch(() => {}))
  ).pipe(
    Effect.tap((container) => Effect.promise(() => container.start())),
    Effect.map(({ id }) => id)
  )

/** What the engine says of a container's life: `running`, `exited`, …; `gone` when there is none. */
export const statusOf = (id: string) =>
  Effect.promise(() =>
    docker
      .getContainer(id)
      .inspect()
      .then(({ State }) => State.Status)
      .catch(() => "gone")
  )

/** The program of a harness; its argument is an image, or `container:` and an id. */
export const HARNESS = fileURLToPath(new URL("../fixtures/harness.ts", import.meta.url))

/** A harness in a process of its own, once it is ready, with the container it uses. The scope kills it. */
export const startHarness = Effect.fnUntraced(function* (what: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(
    ChildProcess.make(process.execPath, [HARNESS, what], { extendEnv: true, killSignal: "SIGKILL", stderr: "inherit" })
  )
  const lines = yield* Stream.decodeText(handle.stdout).pipe(
    Stream.splitLines,
    Stream.takeUntil((line) => line === "ready"),
    Stream.runCollect,
    Effect.timeout("20 seconds")
  )
  return { handle, container: lines[0] ?? "" }
})
