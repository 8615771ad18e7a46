import { assert, it } from "@effect/vitest"
import * as Playbook from "@buzz-orchestra/reference-stack/buzz-agent/Playbook"
import * as ScriptedModel from "@buzz-orchestra/reference-stack/buzz-agent/ScriptedModel"
import { Result } from "effect"
import { readFileSync } from "node:fs"

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")

const member = (name: string) => ({ name, pubkey: `key of ${name}` })

it("the README's playbook is one, and its placeholders are known", () => {
  const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? []
  const playbook = Result.getOrThrow(Playbook.parse(yaml))
  assert.deepStrictEqual(Object.keys(playbook.agents), ["lead-1", "implementer-1", "reviewer-1"])
  const values: ScriptedModel.Placeholders = {
    team: {
      self: member("x"),
      channel: "C",
      user: member("u"),
      members: [member("implementer-1"), member("reviewer-1")]
    },
    wake: { channel: "C", event: "E", from: "F" }
  }
  for (const step of Object.values(playbook.agents).flatMap((turns) => turns.flatMap((turn) => turn.steps))) {
    if (typeof step.shell !== "string") continue
    const command = Result.getOrThrow(ScriptedModel.fill(step.shell, values))
    assert.notMatch(command, /\{[a-z]/)
    // A folded scalar is one line for the shell.
    assert.strictEqual(command.trim().split("\n").length, 1)
  }
})

it("the README names every step", () => {
  const steps = [...readme.matchAll(/^\| `([a-z_]+):/gm)].map(([, name]) => name)
  assert.deepStrictEqual(steps, [
    "say",
    "shell",
    "read_file",
    "str_replace",
    "todo",
    "expect",
    "usage",
    "wait_ms",
    "stop",
    "error",
    "crash",
    "hang",
    "ignore_term"
  ])
})
