/** What agents with users of their own can and cannot do to each other, in any environment whose user is root. */
import * as AgentSupervisorLive from "@buzz-orchestra/runtime/AgentSupervisorLive"
import { AgentSupervisor } from "@buzz-orchestra/runtime/AgentSupervisor"
import type { AgentUser } from "@buzz-orchestra/runtime/AgentUsers"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { DEFAULT_LAYOUT } from "@buzz-orchestra/runtime/Layout"
import { sweep } from "@buzz-orchestra/runtime/Sweep"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { separateAgents } from "../../src/internal/separateAgents.ts"
import { quote } from "../../src/internal/shellText.ts"
import { eventually } from "../support/shells.ts"

const { bin, logs, prompts } = DEFAULT_LAYOUT

/** Says a line to each log, then leaves a descendant that nothing but its executable connects with the stack. */
const ACP = `#!/bin/sh
echo "2026-01-01T00:00:00.000000Z  INFO buzz_acp: subscribed to channel c"
if [ "$BUZZ_STRAY" = 1 ]; then ( trap '' TERM; setsid ${bin}/sleep 1000 & ) ; fi
exec sleep 1000`

/** Runs a command as a user of an agent's, and says whether it could and what it printed. */
const as = (user: AgentUser | undefined, command: string) =>
  EnvironmentService.use(({ exec }) =>
    Effect.map(
      exec(`${(user?.become ?? ["false"]).map(quote).join(" ")} sh -c ${quote(`umask 002; ${command}`)}`),
      ({ exitCode, stdout }) => [exitCode === 0, stdout.trim()] as const
    )
  )

const refused = (user: AgentUser | undefined, command: string) =>
  Effect.map(as(user, command), ([could]) => assert.isFalse(could, command))

const allowed = (user: AgentUser | undefined, command: string) =>
  Effect.map(as(user, command), ([could, said]) => {
    assert.isTrue(could, command)
    return said
  })

/** Two agents, running, with the task's files of root's in the work directory. */
const team = Effect.gen(function* () {
  const { exec, facts, upload } = yield* EnvironmentService
  const text = (content: string) => ({ content: new TextEncoder().encode(content) })
  yield* exec(`mkdir -p ${bin} ${prompts} ${logs} && cp /bin/sleep ${bin}/sleep`)
  yield* upload(text(ACP), `${bin}/buzz-acp`, { mode: 0o755 })
  yield* upload(text("the task's"), `${facts.workDirectory}/src/task.txt`)
  yield* exec("ln -sf /etc/passwd link && chmod 755 src", { cwd: facts.workDirectory })
  const held = yield* separateAgents({ asked: "own", agentIds: ["lead-1", "worker-1"], layout: DEFAULT_LAYOUT })
  const supervision = yield* AgentSupervisor.use((supervisor) =>
    supervisor.open({
      layout: DEFAULT_LAYOUT,
      channelId: "c",
      onWatchEvent: () => Effect.void,
      redact: (said) => said
    })
  )
  for (const [agentId, own] of held.users) {
    yield* supervision.launch({
      agentId,
      own,
      systemPrompt: `prompt of ${agentId}`,
      promptPath: `${prompts}/${agentId}.system-prompt.md`,
      env: {
        HOME: own.home,
        BUZZ_PRIVATE_KEY: Redacted.make(`key of ${agentId}`),
        BUZZ_STRAY: agentId === "lead-1" ? "1" : "0"
      }
    })
  }
  yield* supervision.awaitReady([...held.users.keys()], "10 seconds")
  const started = yield* supervision.started
  const of = (agentId: string) => ({ user: held.users.get(agentId), pid: started.get(agentId)?.pid ?? 0 })
  return { lead: of("lead-1"), worker: of("worker-1"), work: facts.workDirectory, started, users: held.users }
})

/** With or without names: a sandbox's `/etc` is the host's. */
export const agentUsersSuite = <E>(
  name: string,
  environment: Layer.Layer<EnvironmentService, E>,
  options: { readonly named: boolean }
): void => {
  const layer = AgentSupervisorLive.layer.pipe(Layer.provideMerge(environment))
  describe(`agents with users of their own, ${name}`, () => {
    it.live(
      "keeps agents from each other's keys, prompts, homes and logs, and lets them share the task's files",
      () =>
        Effect.gen(function* () {
          const { lead, started, users, work, worker } = yield* team
          assert.strictEqual(yield* allowed(lead.user, `tr '\\0' '\\n' </proc/${lead.pid}/environ | grep -c KEY`), "1")
          yield* refused(worker.user, `cat /proc/${lead.pid}/environ`)
          yield* refused(worker.user, `kill ${lead.pid}`)
          yield* refused(worker.user, `cat ${prompts}/lead-1.system-prompt.md`)
          yield* refused(worker.user, `ls ${lead.user?.home}`)
          yield* refused(worker.user, `cat ${logs}/lead-1.stdout.log`)
          for (const user of [worker.user, lead.user]) {
            yield* refused(user, `echo forged >>${logs}/lead-1.stdout.log`)
            yield* refused(user, `rm -f ${logs}/lead-1.stdout.log`)
            yield* refused(user, `touch ${bin}/another ${logs}/another.log`)
          }
          assert.strictEqual(yield* allowed(lead.user, `cat ${prompts}/lead-1.system-prompt.md`), "prompt of lead-1")
          assert.include(yield* allowed(lead.user, `cat ${lead.user?.home}/.gitconfig`), "directory = *")
          if (options.named) assert.strictEqual(yield* allowed(lead.user, "id -un"), lead.user?.name)

          yield* allowed(lead.user, `cd ${work} && echo more >>src/task.txt && mkdir new && echo by lead >new/file`)
          yield* allowed(
            worker.user,
            `cd ${work} && echo by worker >>new/file && mv new/file new/moved && rm src/task.txt`
          )
          yield* refused(worker.user, `echo broken >>${work}/link`)

          const { exec } = yield* EnvironmentService
          const gone = (pid: number) => Effect.map(exec(`[ -e /proc/${pid} ]`), ({ exitCode }) => exitCode !== 0)
          const strays = Effect.map(
            exec(`for p in /proc/[0-9]*; do tr '\\0' ' ' <"$p/cmdline" 2>/dev/null && echo " \${p#/proc/}"; done; :`),
            ({ stdout }) =>
              stdout.split("\n").flatMap((line) => {
                const [, pid] = /buzz\/bin\/sleep 1000 +(\d+)$/.exec(line) ?? []
                return pid === undefined ? [] : [Number(pid)]
              })
          )
          const [stray] = yield* eventually(strays, (found) => found.length === 1)
          const report = yield* sweep({ roots: [...started.values()], bin, users: [...users.values()] })
          assert.deepStrictEqual([report.survivors, report.spared], [[], []])
          for (const pid of [lead.pid, worker.pid, stray ?? 0]) assert.isTrue(yield* gone(pid))
        }).pipe(Effect.scoped, Effect.timeout("40 seconds"), Effect.provide(layer)),
      60_000
    )
  })
}
