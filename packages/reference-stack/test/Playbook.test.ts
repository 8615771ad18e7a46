import { assert, describe, it } from "@effect/vitest"
import * as Playbook from "@buzz-orchestra/reference-stack/buzz-agent/Playbook"
import { Result } from "effect"

const refusal = (text: string): string =>
  Result.match(Playbook.parse(text), { onSuccess: () => "accepted", onFailure: String })

describe("Playbook", () => {
  it("reads every kind of step", () => {
    const playbook = Result.getOrThrow(
      Playbook.parse(`
agents:
  lead-1:
    - when: [one, two]
      unless_file: /tmp/x
      repeat: true
      steps:
        - say: Hello
        - shell: echo {channel}
        - shell: { command: sleep 1, timeout_ms: 500 }
        - read_file: hello.txt
        - expect: Hello
        - usage: { input: 10, output: 2, cached: 3 }
        - wait_ms: 5
        - error: overloaded
        - ignore_term: true
        - hang: until_cancelled
        - crash: true
        - stop: max_tokens
  quiet-1: []
`)
    )
    const turn = playbook.agents["lead-1"]?.[0]
    assert.deepStrictEqual(turn?.when, ["one", "two"])
    assert.deepStrictEqual(
      turn?.steps.map((step) => Object.keys(step)[0]),
      [
        "say",
        "shell",
        "shell",
        "read_file",
        "expect",
        "usage",
        "wait_ms",
        "error",
        "ignore_term",
        "hang",
        "crash",
        "stop"
      ]
    )
    assert.deepStrictEqual(playbook.agents["quiet-1"], [])
  })

  it("names the place of a step that is none", () => {
    assert.include(refusal("agents: { a-1: [{ steps: [{ shel: ls }] }] }"), '["agents"]["a-1"][0]["steps"][0]["shel"]')
    assert.include(refusal("agents: { a-1: [{ steps: [{ say: x, shell: ls }] }] }"), '["steps"][0]')
    assert.include(refusal("agents: { a-1: [{ steps: [{}] }] }"), '["steps"][0]')
    assert.include(refusal("agents: { a-1: [{ steps: [{ wait_ms: 600001 }] }] }"), "wait_ms")
    assert.include(refusal("agents: { a-1: [{ steps: [{ stop: never }] }] }"), "stop")
    assert.include(refusal("agents: { a-1: [{ step: [] }] }"), '"step')
    assert.include(refusal("turns: []"), "agents")
  })

  it("names the line of a file that is no YAML", () => {
    assert.match(refusal("agents:\n  a-1:\n\t- steps: []\n"), /line \d/)
  })
})
