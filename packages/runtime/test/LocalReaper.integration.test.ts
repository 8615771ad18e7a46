/** What a killed harness left on this machine, with real processes: it is found and ended, and the living keep theirs. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { HostProcess } from "@buzz-orchestra/runtime/docker/HostProcess"
import type { Owner } from "@buzz-orchestra/runtime/docker/OwnerLabels"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import type { LocalDecision } from "@buzz-orchestra/runtime/LocalReapPlan"
import { LocalReaper } from "@buzz-orchestra/runtime/LocalReaper"
import * as OwnedDirectory from "@buzz-orchestra/runtime/OwnedDirectory"
import * as ProcessOwner from "@buzz-orchestra/runtime/ProcessOwner"
import { Effect, Layer } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const reaperOver = (host: Layer.Layer<HostProcess>) =>
  LocalReaper.layer.pipe(Layer.provideMerge(host), Layer.provideMerge(NodeServices.layer))

const thisHost = HostProcess.layer.pipe(Layer.provide(NodeServices.layer))

/** A host of this test alone: whoever else reaps at the same time takes what is ours for something from elsewhere. */
const layers = reaperOver(
  Layer.effect(
    HostProcess,
    HostProcess.useSync((host) => ({ ...host, self: { ...host.self, machine: "", host: randomUUID() } }))
  ).pipe(Layer.provide(thisHost))
)

/** An owner that has ended: the start time is of no process that lives. */
const deadOwner = Effect.map(HostProcess, ({ self }): Owner => {
  const { pid } = spawnSync("true")
  return { run: "run", trial: randomUUID(), ...self, pid, pidStartTime: "1", created: new Date().toISOString() }
})

/** Says so once its child is the program that it starts: on the way there a process has no environment for a moment. */
const LEFTOVER = `trap '' TERM
sleep 300 >/dev/null &
until read -r words </proc/$!/cmdline; [ "$words" = sleep300 ]; do :; done
echo started
wait`

/** A process of that owner with a child, as a sandbox that outlived its harness would be. The scope ends what is left. */
const leftover = (owner: Owner | string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const marks =
        typeof owner === "string" ? { [ProcessOwner.OWNER_VARIABLE]: owner } : ProcessOwner.toVariable(owner)
      const child = spawn("sh", ["-c", LEFTOVER], {
        detached: true,
        stdio: ["ignore", "pipe", "ignore"],
        env: { PATH: process.env["PATH"] ?? "", ...marks }
      })
      await once(child.stdout, "data")
      return child.pid ?? 0
    }),
    (pid) =>
      Effect.sync(() => {
        try {
          process.kill(-pid, "SIGKILL")
        } catch {
          // It was reaped.
        }
      })
  )

const isAlive = (pid: number): boolean => {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8")
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2))
  } catch {
    return false
  }
}

const pidsOf = (decisions: ReadonlyArray<LocalDecision>) =>
  decisions.flatMap(({ object }) => (object.kind === "process" ? [object.pid] : []))

const pathsOf = (decisions: ReadonlyArray<LocalDecision>) =>
  decisions.flatMap(({ object }) => (object.kind === "directory" ? [object.path] : []))

describe("LocalReaper", () => {
  it.live("ends what a dead owner left, with everything that carries its name, and says so first when asked", () =>
    Effect.gen(function* () {
      const { reap } = yield* LocalReaper
      const pid = yield* leftover(yield* deadOwner)
      const dry = yield* reap({ dryRun: true })
      assert.include(pidsOf(dry.removed), pid)
      assert.isTrue(isAlive(pid))
      const report = yield* reap()
      const ours = report.removed.filter(
        ({ object }) => object.kind === "process" && object.command.includes("sleep 300")
      )
      assert.isAtLeast(ours.length, 2)
      assert.isFalse(isAlive(pid))
      assert.deepStrictEqual(report.refused, [])
      assert.notInclude(pidsOf((yield* reap()).removed), pid)
    }).pipe(Effect.scoped, Effect.provide(layers))
  )

  it.live("leaves alone what belongs to a living process, to another host, or to nobody that can be read", () =>
    Effect.gen(function* () {
      const { reap } = yield* LocalReaper
      const dead = yield* deadOwner
      const { self } = yield* HostProcess
      const living = yield* leftover({ ...dead, ...self })
      const elsewhere = yield* leftover({ ...dead, host: `${dead.host}x`, machine: "" })
      const unreadable = yield* leftover("{")
      const { kept, removed } = yield* reap()
      for (const pid of [living, elsewhere, unreadable]) {
        assert.include(pidsOf(kept), pid)
        assert.notInclude(pidsOf(removed), pid)
        assert.isTrue(isAlive(pid))
      }
    }).pipe(Effect.scoped, Effect.provide(layers))
  )

  it.live("finds the first process of a sandbox, whose owner lives, and none of its agents", () =>
    Effect.gen(function* () {
      const { reap } = yield* LocalReaper
      const { exec } = yield* EnvironmentService
      yield* exec("setsid sleep 300 >/dev/null 2>&1 &")
      const { stdout } = yield* exec("env; cat /proc/$$/environ | tr '\\0' '\\n'")
      assert.notInclude(stdout, ProcessOwner.OWNER_VARIABLE)
      const { kept } = yield* reap({ dryRun: true })
      const mine = kept.filter(
        ({ object }) =>
          object.kind === "process" && object.owner !== "invalid" && object.owner.trial === "trial-of-this-test"
      )
      assert.isAtLeast(mine.length, 1)
      for (const { object, why } of mine) {
        assert.match(why, /^its owner, process \d+, lives$/)
        assert.notInclude(object.kind === "process" ? object.command : "", "sleep 300")
      }
    }).pipe(
      Effect.provide(
        LocalEnvironment.layer({ owner: { runId: "run", trialId: "trial-of-this-test" } }).pipe(
          Layer.provideMerge(reaperOver(thisHost))
        )
      )
    )
  )

  it.live("makes temporary directories that it knows for this process's", () =>
    Effect.gen(function* () {
      const { self } = yield* HostProcess
      const path = yield* OwnedDirectory.make
      const owner = OwnedDirectory.ownerOf(path.slice(path.lastIndexOf("/") + 1), self.host)
      assert.deepStrictEqual(owner, { isOfHost: true, pid: process.pid, pidStartTime: self.pidStartTime })
    }).pipe(Effect.scoped, Effect.provide(reaperOver(thisHost)))
  )

  it.live("removes the temporary directories of the dead, and no others", () =>
    Effect.gen(function* () {
      const { reap } = yield* LocalReaper
      const dead = yield* deadOwner
      const left = fs.mkdtempSync(join(tmpdir(), OwnedDirectory.prefixOf(dead)))
      fs.writeFileSync(join(left, "log"), "a log before its secrets were taken out")
      const { self } = yield* HostProcess
      const own = fs.mkdtempSync(join(tmpdir(), OwnedDirectory.prefixOf(self)))
      assert.include(pathsOf((yield* reap({ dryRun: true })).removed), left)
      assert.isTrue(fs.existsSync(left))
      const { kept, removed } = yield* reap()
      assert.include(pathsOf(removed), left)
      assert.isFalse(fs.existsSync(left))
      assert.include(pathsOf(kept), own)
      assert.isTrue(fs.existsSync(own))
      fs.rmdirSync(own)
    }).pipe(Effect.scoped, Effect.provide(layers))
  )
})
