import { AgentSupervisor } from "@buzz-orchestra/runtime/AgentSupervisor"
import { EnvironmentError, EnvironmentLost } from "@buzz-orchestra/runtime/EnvironmentError"
import { DEFAULT_LAYOUT } from "@buzz-orchestra/runtime/Layout"
import { exited, RecordingEnvironment } from "@buzz-orchestra/runtime/testing/RecordingEnvironment"
import { TestStack } from "@buzz-orchestra/runtime/testing/TestStack"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Redacted, Ref, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { agent, CHANNEL, openSupervision, supervisionLayer } from "./support/supervision.ts"

const TEAM = ["lead-1", "worker-1"]

const launchTeam = Effect.gen(function* () {
  const { seen, supervision, told } = yield* openSupervision
  yield* Effect.forEach(TEAM, (agentId) => supervision.launch(agent(agentId)), { concurrency: "unbounded" })
  return { supervision, seen, told }
})

const executed = (pattern: RegExp) =>
  Effect.map(
    RecordingEnvironment.use(({ commands }) => commands),
    (commands) => commands.filter(({ command }) => pattern.test(command))
  )

describe("AgentSupervisor.open", () => {
  it.effect("closes its watch with the scope it was opened in, not with the layer's", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(openSupervision)
      const journal = yield* RecordingEnvironment.use(({ journal }) => journal)
      assert.deepStrictEqual(
        journal.map(({ _tag }) => _tag),
        ["WatchOpened", "WatchClosed"]
      )
    }).pipe(Effect.provide(supervisionLayer()))
  )
})

describe("a watch whose events cannot be handled", () => {
  it.effect("fails whoever waits for it, instead of letting them wait", () =>
    Effect.gen(function* () {
      const supervisor = yield* AgentSupervisor
      const supervision = yield* supervisor.open({
        layout: DEFAULT_LAYOUT,
        channelId: CHANNEL,
        onWatchEvent: () => Effect.die(new Error("no room")),
        redact: (text) => text
      })
      const launched = yield* Effect.exit(supervision.launch(agent("lead-1")))
      assert.isTrue(Exit.hasDies(launched))
    }).pipe(Effect.provide(supervisionLayer()))
  )
})

describe("an environment that does not answer", () => {
  const hanging = (mark: RegExp) =>
    supervisionLayer({
      environment: { answers: [(command: string) => (mark.test(command) ? Effect.never : undefined)] }
    })
  const warned = Effect.fnUntraced(function* () {
    const said = yield* Ref.make<ReadonlyArray<string>>([])
    const supervisor = yield* AgentSupervisor
    const supervision = yield* supervisor.open({
      layout: DEFAULT_LAYOUT,
      channelId: CHANNEL,
      onWatchEvent: () => Effect.void,
      redact: (text) => text,
      warn: (detail) => Ref.update(said, (all) => [...all, detail])
    })
    return { supervision, warnings: Ref.get(said) }
  })

  it.effect("ends a launch by itself, because nobody can interrupt it", () =>
    Effect.gen(function* () {
      yield* RecordingEnvironment.use((environment) =>
        environment.answer((command) => (command.includes("buzz-acp") ? Effect.never : undefined))
      )
      const { supervision } = yield* openSupervision
      const launching = yield* Effect.forkChild(Effect.flip(supervision.launch(agent("lead-1"))))
      yield* TestClock.adjust("26 seconds")
      const error = yield* Fiber.join(launching)
      assert.match(error.message, /cannot launch agent lead-1.*did not answer within 25s/)
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("does not hold up the end of a scope, which says what could not be ended", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { supervision, warnings } = yield* warned()
      yield* supervision.launch(agent("lead-1")).pipe(Scope.provide(scope))
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("11 seconds")
      yield* Fiber.join(closing)
      assert.match((yield* warnings).join(), /^lead-1 \(pid \d+\) could not be ended: not finished after 10s/)
    }).pipe(Effect.provide(hanging(/^\nalive\(\)/)))
  )

  it.effect("does not hide a death, whose exit code is then unknown", () =>
    Effect.gen(function* () {
      const { supervision, warnings } = yield* warned()
      yield* supervision.launch(agent("lead-1"))
      const death = yield* Effect.forkChild(Effect.flip(supervision.awaitDeath))
      yield* TestStack.use((stack) => stack.die("lead-1", 139))
      yield* TestClock.adjust("7 seconds")
      assert.deepInclude(yield* Fiber.join(death), { _tag: "AgentsDied" })
      assert.match((yield* warnings).join(), /how lead-1 ended is not known/)
    }).pipe(Effect.provide(hanging(/\.exit'\)/)))
  )
})

describe("AgentSupervisor.launch", () => {
  it.effect("starts buzz-acp with its logs and without a value of its environment in the command", () =>
    Effect.gen(function* () {
      yield* launchTeam
      const [launch] = yield* executed(/lead-1\.stdout\.log/)
      const text = launch?.command.replaceAll("'\\''", "'") ?? ""
      assert.include(text, "'/opt/buzz/bin/buzz-acp' </dev/null >>'/opt/buzz/logs/lead-1.stdout.log'")
      assert.include(text, "2>>'/opt/buzz/logs/lead-1.stderr.log'")
      assert.notInclude(text, "secret-key-of-the-agent")
      assert.isTrue(Redacted.isRedacted(launch?.options.env?.["BUZZ_PRIVATE_KEY"]))
      assert.isUndefined(launch?.options.cwd)
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("uploads the prompt before the agent starts, for its user's eyes only", () =>
    Effect.gen(function* () {
      const { supervision } = yield* openSupervision
      yield* supervision.launch({ ...agent("lead-1"), user: "agent" })
      const journal = yield* RecordingEnvironment.use(({ journal }) => journal)
      const upload = journal.findIndex((entry) => entry._tag === "Uploaded")
      const start = journal.findIndex((entry) => entry._tag === "Executed" && entry.command.includes("buzz-acp"))
      assert.isTrue(upload !== -1 && upload < start)
      const file = journal[upload]
      assert.deepInclude(file, { mode: 0o600, owner: "agent", target: agent("lead-1").promptPath })
      assert.deepInclude((yield* executed(/buzz-acp/))[0]?.options, { user: "agent" })
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("knows the processes that it started", () =>
    Effect.gen(function* () {
      const { supervision } = yield* launchTeam
      const programs = yield* TestStack.use(({ programs }) => programs)
      const started = yield* supervision.started
      const pid = programs.get("worker-1")?.pid ?? 0
      assert.deepStrictEqual(started.get("worker-1"), { pid, startTime: `${pid}00` })
      assert.strictEqual(started.size, 2)
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("fails when the launch prints no pid, with what it said instead", () =>
    Effect.gen(function* () {
      const { supervision } = yield* openSupervision
      yield* RecordingEnvironment.use((environment) =>
        environment.answer((command) =>
          command.includes("buzz-acp") ? exited(2, { stderr: "cannot fork\n" }) : undefined
        )
      )
      const error = yield* Effect.flip(supervision.launch(agent("lead-1")))
      assert.deepInclude(error, { _tag: "AgentNotLaunched", why: "no-pid", detail: "cannot fork", exitCode: 2 })
      assert.match(error.message, /cannot launch agent lead-1/)
    }).pipe(Effect.provide(supervisionLayer()))
  )

  for (const [said, status, why] of [
    ["sh: 1: /opt/buzz/bin/buzz-acp: Exec format error", 126, "exec-format"],
    ["sh: 1: setsid: Argument list too long", 126, "too-big"],
    ["sh: 1: /opt/buzz/bin/buzz-acp: not found", 127, "exec-format"],
    ["sh: 1: /opt/buzz/bin/buzz-acp: Permission denied", 126, "refused"]
  ] as const) {
    it.effect(`tells a program that cannot be executed from one that ends: ${said}`, () =>
      Effect.gen(function* () {
        const { supervision } = yield* openSupervision
        yield* TestStack.use((stack) => stack.failNext("lead-1", status, said))
        const error = yield* Effect.flip(supervision.launch(agent("lead-1")))
        assert.deepInclude(error, { _tag: "AgentNotLaunched", why, exitCode: status, detail: said })
      }).pipe(Effect.provide(supervisionLayer()))
    )
  }

  it.effect("reports an agent that ends at once as dead, with its exit code and last words", () =>
    Effect.gen(function* () {
      const { supervision } = yield* openSupervision
      yield* TestStack.use((stack) => stack.failNext("lead-1", 1, "Error: relay connect error: hunter2"))
      const error = yield* Effect.flip(supervision.launch(agent("lead-1")))
      assert.strictEqual(error._tag, "AgentsDied")
      assert.match(error.message, /lead-1 \(its process ended, exit code 1; .*relay connect error: \[redacted\]/)
    }).pipe(Effect.provide(supervisionLayer()))
  )
})

describe("AgentSupervisor.awaitReady", () => {
  it.effect("waits for the subscription of every agent", () =>
    Effect.gen(function* () {
      const { supervision } = yield* launchTeam
      const waiting = yield* Effect.forkScoped(supervision.awaitReady(TEAM, "60 seconds"))
      const stack = yield* TestStack
      yield* stack.log("lead-1", "buzz_acp", `subscribed to channel ${CHANNEL}`)
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      yield* stack.log("worker-1", "buzz_acp", `subscribed to channel ${CHANNEL}`)
      yield* Fiber.join(waiting)
    }).pipe(Effect.provide(supervisionLayer({ stack: { ready: false } })))
  )

  it.effect("names the agents that are not ready in time, sorted, with what each last said", () =>
    Effect.gen(function* () {
      const { supervision } = yield* launchTeam
      const stack = yield* TestStack
      yield* stack.log("worker-1", "buzz_acp", "connecting to hunter2")
      const waiting = yield* Effect.forkScoped(Effect.flip(supervision.awaitReady(TEAM, "60 seconds")))
      yield* TestClock.adjust("60 seconds")
      const error = yield* Fiber.join(waiting)
      assert.strictEqual(error._tag, "AgentsNotReady")
      assert.match(error.message, /readiness timeout: lead-1, worker-1/)
      assert.match(error.message, /worker-1 said ".*connecting to \[redacted\]"/)
    }).pipe(Effect.provide(supervisionLayer({ stack: { ready: false } })))
  )

  it.effect("does not take a subscription to another channel, or a quoted one, for readiness", () =>
    Effect.gen(function* () {
      const { supervision } = yield* launchTeam
      const stack = yield* TestStack
      for (const agentId of TEAM) {
        yield* stack.log(agentId, "buzz_acp", "subscribed to channel 00000000-8888-4777-8666-555555555555")
        yield* stack.log(agentId, "acp::stream", `subscribed to channel ${CHANNEL}`)
      }
      const waiting = yield* Effect.forkScoped(Effect.flip(supervision.awaitReady(TEAM, "10 seconds")))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "AgentsNotReady")
    }).pipe(Effect.provide(supervisionLayer({ stack: { ready: false } })))
  )

  for (const said of [
    `failed to subscribe to channel ${CHANNEL}: restricted`,
    "no channel subscriptions resolved — agent will sit idle"
  ]) {
    it.effect(`fails at once when an agent says: ${said}`, () =>
      Effect.gen(function* () {
        const { supervision } = yield* launchTeam
        yield* TestStack.use((stack) => stack.log("worker-1", "buzz_acp", said, "WARN"))
        const error = yield* Effect.flip(supervision.awaitReady(TEAM, "60 seconds"))
        assert.strictEqual(error._tag, "SubscriptionFailed")
        assert.deepInclude(error, { agentId: "worker-1", said })
      }).pipe(Effect.provide(supervisionLayer({ stack: { ready: false } })))
    )
  }

  it.effect("fails at once when an agent dies, and says by which signal", () =>
    Effect.gen(function* () {
      const { supervision } = yield* launchTeam
      yield* TestStack.use((stack) => stack.die("worker-1", 137))
      const error = yield* Effect.flip(supervision.awaitReady(TEAM, "60 seconds"))
      assert.strictEqual(error._tag, "AgentsDied")
      if (error._tag !== "AgentsDied") return
      assert.deepInclude(error.agents[0], { agentId: "worker-1", signal: "SIGKILL", exitCode: undefined })
    }).pipe(Effect.provide(supervisionLayer({ stack: { ready: false } })))
  )

  it.effect("fails when the environment is gone", () =>
    Effect.gen(function* () {
      const { supervision } = yield* launchTeam
      const lost = new EnvironmentError({
        operation: "EnvironmentService.watch",
        reason: new EnvironmentLost({ environment: "recording", detail: "out of memory", exitCode: 137 })
      })
      yield* RecordingEnvironment.use((environment) => environment.failWatch(lost))
      const error = yield* Effect.flip(supervision.awaitReady(TEAM, "60 seconds"))
      assert.strictEqual(error._tag, "EnvironmentError")
    }).pipe(Effect.provide(supervisionLayer({ stack: { ready: false } })))
  )
})

describe("AgentSupervisor, later", () => {
  it.effect("hears of a death at any time, and of an announced one", () =>
    Effect.gen(function* () {
      const { supervision } = yield* launchTeam
      yield* supervision.awaitReady(TEAM, "60 seconds")
      const waiting = yield* Effect.forkScoped(Effect.flip(supervision.awaitDeath))
      yield* TestStack.use((stack) => stack.log("lead-1", "buzz_acp", "all agents dead — exiting", "ERROR"))
      yield* TestClock.adjust("1 second")
      const error = yield* Fiber.join(waiting)
      assert.match(error.message, /lead-1 \(all its agent processes died/)
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("does not mind ends that are expected, and keeps what it knew", () =>
    Effect.gen(function* () {
      const { seen, supervision } = yield* launchTeam
      yield* supervision.awaitReady(TEAM, "60 seconds")
      const waiting = yield* Effect.forkScoped(supervision.awaitDeath)
      yield* supervision.expectEnds
      yield* TestStack.use((stack) => stack.die("lead-1", 143))
      yield* TestClock.adjust("5 seconds")
      assert.isTrue((yield* seen).some((event) => event._tag === "ProcessDied"))
      assert.isUndefined(waiting.pollUnsafe())
      assert.strictEqual((yield* supervision.state).agents.get("lead-1")?.state._tag, "Ready")
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("tells each change of an agent and its usage", () =>
    Effect.gen(function* () {
      const { supervision, told } = yield* launchTeam
      yield* TestStack.use((stack) => stack.turn("lead-1", { input: 1200, output: 34 }))
      yield* Stream.runHead(
        Stream.filter(supervision.changes, ({ agents }) => agents.get("lead-1")?.state._tag === "Idle")
      )
      const events = yield* told
      const views = events.flatMap((event) =>
        event._tag === "AgentChanged" && event.agentId === "lead-1" ? [event.view._tag] : []
      )
      assert.deepStrictEqual(views, ["Starting", "Ready", "InTurn", "Idle"])
      assert.deepInclude(
        events.find((event) => event._tag === "UsageSeen"),
        { agentId: "lead-1", inputTokens: 1200, outputTokens: 34, cachedTokens: undefined }
      )
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("ends what it started with its scope, and only what is still alive", () =>
    Effect.gen(function* () {
      const { supervision } = yield* openSupervision
      const scope = yield* Scope.make()
      yield* Effect.forEach(TEAM, (id) => Scope.provide(supervision.launch(agent(id)), scope))
      const stack = yield* TestStack
      yield* stack.die("lead-1", 0)
      yield* Stream.runHead(Stream.filter(supervision.changes, ({ ended }) => ended.has("lead-1")))
      const pid = (yield* stack.programs).get("worker-1")?.pid
      yield* Scope.close(scope, Exit.void)
      const stops = yield* executed(/kill -TERM/)
      assert.strictEqual(stops.length, 1)
      assert.match(stops[0]?.command ?? "", new RegExp(`kill -TERM ${pid}\\n`))
    }).pipe(Effect.provide(supervisionLayer()))
  )

  it.effect("passes every event of the watch on before it concludes anything", () =>
    Effect.gen(function* () {
      const { seen, supervision } = yield* launchTeam
      yield* supervision.awaitReady(TEAM, "60 seconds")
      const tags = (yield* seen).map(({ _tag }) => _tag)
      assert.deepStrictEqual(tags.toSorted(), ["LogBytes", "LogBytes", "ProcessSeen", "ProcessSeen"])
    }).pipe(Effect.provide(supervisionLayer()))
  )
})
