/**
 * What the integration tests of trials have in common.
 */
import { Effect, type Scope } from "effect"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type HarnessProcess, ROOT } from "./HarnessProcess.ts"

/** Seconds for one wait; a test has several, and a minute more than that. */
export const SECONDS = 40

/** Milliseconds for a whole test. */
export const TEST_LIMIT = (SECONDS + 60) * 1000

/** A path for a bundle; removed with the scope. */
export const bundlePath: Effect.Effect<string, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(join(tmpdir(), "demo-"))),
    (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
  ),
  (directory) => join(directory, "bundle")
)

/** A file's text. */
export const read = (path: string): string => fs.readFileSync(path, "utf8")

/** Who wrote the messages of the channel, in the order in which they were seen. */
export const authorsOf = (events: ReturnType<HarnessProcess["events"]>): ReadonlyArray<unknown> =>
  events
    .filter(({ event, message }) => event === "MessageSeen" && (message as { kind: number }).kind === 9)
    .map(({ author }) => author)

/** The first event of this name. */
export const eventNamed = (harness: HarnessProcess, name: string) =>
  harness.events().find(({ event }) => event === name)

/** Arguments of `run` for a team of one, whose lead plays what `fixtures/solo/<play>.yaml` says. */
export const soloTrial = (play: "hanging" | "done"): ReadonlyArray<string> => {
  const fixture = join(ROOT, "packages/cli/test/fixtures/solo")
  const playbook = `${fixture}/${play}.yaml:/tmp/hello-team/playbook.yaml`
  const endpoints = join(ROOT, "examples/hello-team/endpoints.json")
  return [`${fixture}/manifest.yaml`, "--endpoints", endpoints, "--instruction", "do it", "--upload", playbook]
}

/** What the scripted model of that lead is launched with. */
export const SOLO_KEY = { SCRIPTED_API_KEY: "scripted-key" }
