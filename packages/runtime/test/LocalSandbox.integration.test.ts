// @module-tag thorough
/** What the local sandbox promises beyond the contract of every environment: privacy, and that nothing of it outlives anyone. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import { openSandbox } from "@buzz-orchestra/runtime/Sandbox"
import { sweep } from "@buzz-orchestra/runtime/Sweep"
import { planSandbox } from "@buzz-orchestra/runtime/SandboxPlan"
import { Effect, Exit, Fiber, FileSystem, Layer, Scope, Stream } from "effect"
import { environmentOver } from "../src/internal/environmentOver.ts"
import { encode } from "./support/bytes.ts"
import { processesWith, startHarness, uniqueSeconds } from "./support/harness.ts"
import { isInstalled } from "./support/sandbox.ts"
import { eventually } from "./support/shells.ts"

const isRoot = process.getuid?.() === 0

const local = (options: LocalEnvironment.LocalEnvironmentOptions) =>
  Effect.provide(LocalEnvironment.layer(options).pipe(Layer.provideMerge(NodeServices.layer)))

const output = Effect.fnUntraced(function* (command: string) {
  const environment = yield* EnvironmentService
  const { exitCode, stderr, stdout } = yield* environment.exec(command)
  assert.strictEqual(exitCode, 0, stderr)
  return stdout
})

const BACKENDS = ["bwrap", "unshare"] as const

for (const backend of BACKENDS) {
  const test = isInstalled(backend) ? it.live : it.live.skip
  describe(`local sandbox over ${backend}`, () => {
    test(
      "leaves no process alive five seconds after a kill -9 of its harness",
      () =>
        Effect.gen(function* () {
          const seconds = yield* uniqueSeconds
          const { handle } = yield* startHarness(backend, seconds)
          assert.isAtLeast((yield* processesWith(seconds)).length, 5)
          yield* handle.kill({ killSignal: "SIGKILL" })
          yield* eventually(processesWith(seconds), (pids) => pids.length === 0, "5 seconds")
        }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
      60_000
    )

    const unprivileged = isRoot && isInstalled(backend) && isInstalled("setpriv") ? it.live : it.live.skip
    unprivileged(
      "works for a user without privileges, with the same promise",
      () =>
        Effect.gen(function* () {
          const seconds = yield* uniqueSeconds
          const asNobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
          const { handle, said } = yield* startHarness(backend, seconds, asNobody)
          assert.match(said, new RegExp(`^local sandbox \\(${backend}\\)\n0\n/home/agent\n.*Read-only file system`))
          assert.isAtLeast((yield* processesWith(seconds)).length, 5)
          yield* handle.kill({ killSignal: "SIGKILL" })
          yield* eventually(processesWith(seconds), (pids) => pids.length === 0, "5 seconds")
        }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
      60_000
    )

    test("has ended everything when its scope is closed", () =>
      Effect.gen(function* () {
        const seconds = yield* uniqueSeconds
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(LocalEnvironment.layer({ backend }), scope)
        yield* Effect.gen(function* () {
          yield* output(`setsid sh -c 'trap "" TERM; sleep ${seconds}; :' >/dev/null 2>&1 &`)
          yield* eventually(processesWith(seconds), (pids) => pids.length > 0)
          yield* Effect.forkIn(Effect.ignore(output(`sleep ${seconds}`)), scope)
        }).pipe(Effect.provide(context))
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(yield* processesWith(seconds), [])
      }).pipe(Effect.provide(NodeServices.layer)))

    test("says that it is lost when it was ended from outside: to commands, to the watch, to transfers", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const host = { system: [{ path: "/usr", linksTo: undefined }], configuration: [], privileged: isRoot }
        const links = ["bin", "sbin", "lib", "lib64"].map((name) => ({ path: `/${name}`, linksTo: `usr/${name}` }))
        const plan = planSandbox({ ...host, system: [...host.system, ...links] }, { workDirectory: "/app", mounts: [] })
        const sandbox = yield* openSandbox({ backend, plan, env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } })
        const environment = yield* environmentOver(sandbox, () =>
          Effect.succeed({
            kind: "local",
            name: sandbox.name,
            workDirectory: "/app",
            logsDirectory: "/logs",
            testsDirectory: "/tests",
            homeDirectory: "/tmp",
            architecture: "x86_64",
            created: true,
            limitations: []
          })
        )
        const stream = yield* environment.watch("/logs")
        const running = yield* Effect.forkChild(Effect.flip(environment.exec("sleep 1000")))
        const watching = yield* Effect.forkChild(Effect.flip(Stream.runDrain(stream)))
        yield* environment.exec("true")
        process.kill(sandbox.pid, "SIGKILL")
        const errors = [
          yield* Fiber.join(running).pipe(Effect.timeout("10 seconds")),
          yield* Fiber.join(watching).pipe(Effect.timeout("10 seconds")),
          yield* Effect.flip(environment.exec("true")),
          yield* Effect.flip(environment.upload({ content: encode("x".repeat(100_000)) }, "/app/x"))
        ]
        for (const error of errors) assert.strictEqual(error.reason._tag, "EnvironmentLost")
        assert.isFalse(yield* fs.exists(`/proc/${sandbox.pid}/exe`))
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

    test("shows nothing of the host but its system, and that read-only", () =>
      Effect.gen(function* () {
        assert.strictEqual(
          yield* output("ls -A /root /home /tmp /run /home/agent | grep -v '^$\\|:$\\|^agent$' || :"),
          ""
        )
        for (const path of ["/usr", "/etc", "/usr/lib", "/etc/hosts"]) {
          assert.match(yield* output(`touch ${path} 2>&1 || :`), /Read-only file system|Permission denied/)
        }
        assert.match(yield* output("head -c 4 /dev/urandom | wc -c; echo x >/dev/null; ls /dev"), /^4\n/)
        assert.strictEqual((yield* output("ls -d /proc/[0-9]* | wc -l")).trim().length, 1)
        assert.match(yield* output("cat /etc/hosts"), /localhost/)
        assert.notMatch(yield* output("mount -t tmpfs x /mnt 2>&1; mknod /tmp/x c 1 3 2>&1; :"), /^$/)
      }).pipe(local({ backend })))

    test("survives a command that kills everything it can, and reaps orphans", () =>
      Effect.gen(function* () {
        const environment = yield* EnvironmentService
        yield* Effect.flip(environment.exec("kill -9 -1"))
        assert.strictEqual(yield* output("echo here"), "here\n")
        const orphan = (yield* output("sh -c '(sleep 0.05 & echo $!)'")).trim()
        yield* eventually(output(`ls -d /proc/${orphan} 2>/dev/null || echo reaped`), (text) => text === "reaped\n")
      }).pipe(local({ backend })))

    test("mounts a single file, and keeps what was written where it is told to", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped({ prefix: "keep it " })
        yield* Effect.gen(function* () {
          assert.strictEqual((yield* output("/opt/buzz/bin/node --version")).trim(), process.version)
          assert.match(yield* output("echo x 2>&1 >/opt/buzz/bin/node || :"), /Read-only|Text file busy|cannot create/)
          yield* output("echo more >/opt/buzz/bin/program; echo kept >work; echo log >/logs/log; pwd")
        }).pipe(
          local({
            backend,
            mounts: [{ source: process.execPath, target: "/opt/buzz/bin/node", readOnly: true }],
            workDirectory: "/work place",
            keep: `${folder}/kept`
          })
        )
        assert.strictEqual(yield* fs.readFileString(`${folder}/kept/work/work`), "kept\n")
        assert.strictEqual(yield* fs.readFileString(`${folder}/kept/logs/log`), "log\n")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
  })
}

const refusal = (options: LocalEnvironment.LocalEnvironmentOptions, services: typeof NodeServices.layer) =>
  Effect.scoped(Layer.build(LocalEnvironment.layer(options))).pipe(
    Effect.flip,
    Effect.provide(services),
    Effect.map(({ message, reason }) => {
      assert.strictEqual(reason._tag, "EnvironmentNotCreated")
      return `${message} ${reason.message}`
    })
  )

/** A machine on which these programs are not installed. */
const without = (...programs: ReadonlyArray<string>) =>
  Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) =>
      FileSystem.FileSystem.of({
        ...fs,
        exists: (path) =>
          programs.some((program) => path.endsWith(`/${program}`)) ? Effect.succeed(false) : fs.exists(path)
      })
    )
  ).pipe(Layer.provideMerge(NodeServices.layer))

describe("sweep of a local sandbox", () => {
  it.live("lists a spared service with the ports it listens on, and ends scripts of a Node in bin", () =>
    Effect.gen(function* () {
      const environment = yield* EnvironmentService
      const listen = `require("net").createServer().listen(0, "127.0.0.1", function () { require("fs").writeFileSync("port", String(this.address().port)) })`
      yield* environment.upload({ content: encode(listen) }, "/app/service.cjs")
      yield* environment.upload({ content: encode("setInterval(() => {}, 1000)") }, "/opt/buzz/bin/agent.cjs")
      const service = Number(yield* output("setsid /opt/node/node service.cjs >log 2>&1 & echo $!"))
      const agent = Number(yield* output("setsid /opt/node/node /opt/buzz/bin/agent.cjs >log2 2>&1 & echo $!"))
      const port = yield* eventually(output("cat port 2>/dev/null || :"), (text) => text !== "")
      const report = yield* sweep({ roots: [], bin: "/opt/buzz/bin" })
      assert.deepStrictEqual(
        report.spared.filter(({ pid }) => pid === service),
        [{ pid: service, command: "/opt/node/node service.cjs", ports: [Number(port)] }]
      )
      assert.include(
        [...report.terminated, ...report.killed].map(({ pid }) => pid),
        agent
      )
    }).pipe(local({ mounts: [{ source: process.execPath, target: "/opt/node/node", readOnly: true }] }))
  )
})

describe("LocalEnvironment that cannot be had", () => {
  it.live("says what to install when no program can build it", () =>
    Effect.gen(function* () {
      const text = yield* refusal({}, without("bwrap", "unshare", "setsid"))
      assert.match(
        text,
        /not installed: bwrap, setsid.*not installed: unshare, setsid.*apt-get install bubblewrap util-linux/s
      )
    })
  )

  it.live("is built by the other program when the first is not there", () =>
    Effect.gen(function* () {
      const { facts } = yield* EnvironmentService
      assert.strictEqual(facts.name, "local sandbox (unshare)")
    }).pipe(Effect.provide(LocalEnvironment.layer().pipe(Layer.provide(without("bwrap")))))
  )

  it.live("says that it needs Linux, elsewhere", () =>
    Effect.gen(function* () {
      const elsewhere = FileSystem.layerNoop({}).pipe(Layer.provideMerge(NodeServices.layer))
      assert.match(yield* refusal({}, elsewhere as typeof NodeServices.layer), /needs Linux/)
    })
  )

  it.live("says which mount is wrong", () =>
    Effect.gen(function* () {
      const mount = { source: "/no/such/file", target: "/opt/x", readOnly: true }
      assert.match(yield* refusal({ mounts: [mount] }, NodeServices.layer), /cannot mount \/no\/such\/file/)
      const inside = { source: "/etc/hostname", target: "/usr/no/such/place", readOnly: true }
      assert.match(yield* refusal({ mounts: [inside], backend: "unshare" }, NodeServices.layer), /nonexistent|No such/)
    })
  )
})
