/** What is made of what was tried: each judgement by itself. */
import type { EngineFacts } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as DiskCheck from "../../src/doctor/DiskCheck.ts"
import * as EngineCheck from "../../src/doctor/EngineCheck.ts"
import type { Finding } from "../../src/doctor/Finding.ts"
import * as RelayCheck from "../../src/doctor/RelayCheck.ts"
import * as SandboxCheck from "../../src/doctor/SandboxCheck.ts"

const said = (findings: ReadonlyArray<Finding>) =>
  findings.map(({ detail, status, topic }) => `${topic} ${status}: ${detail}`)

describe("a sandbox", () => {
  const works = (backend: "bwrap" | "unshare") => ({ backend, result: Result.succeed(12) })
  const fails = (backend: "bwrap" | "unshare") => ({
    backend,
    result: Result.fail({ line: `${backend} is not installed`, next: "install it" })
  })

  it("is there when one of the two builds it", () => {
    const judge = (...attempts: Parameters<typeof SandboxCheck.judge>) => said([SandboxCheck.judge(...attempts)])
    assert.deepStrictEqual(judge(works("bwrap"), works("unshare")), [
      "sandbox ok: bubblewrap builds one, in 0.0 s; so does unshare"
    ])
    assert.deepStrictEqual(judge(fails("bwrap"), works("unshare")), [
      "sandbox ok: unshare builds one, in 0.0 s; bubblewrap does not"
    ])
    assert.deepStrictEqual(judge(fails("bwrap"), fails("unshare")), [
      "sandbox missing: bwrap is not installed; unshare is not installed"
    ])
  })
})

describe("an engine", () => {
  const facts: EngineFacts = {
    flavor: "docker",
    version: "28.0.0",
    apiVersion: "1.48",
    architecture: "x86_64",
    operatingSystem: "linux",
    address: "unix:///var/run/docker.sock",
    local: true
  }
  const found: EngineCheck.TriedContainer = {
    millis: 300,
    applied: { cpus: 1, memoryMb: 256, storageMb: 512, pids: 512 },
    way: { _tag: "Bridge" }
  }

  it("that can everything has one line", () => {
    assert.deepStrictEqual(said(EngineCheck.judge(facts, found)), [
      "container ok: starts one in 0.3 s; limits its cores, memory, storage and processes; bridges a relay of this machine into it, whatever its network"
    ])
  })

  it("says one by one what it cannot, with what to do", () => {
    const findings = EngineCheck.judge(
      { ...facts, flavor: "podman" },
      { ...found, applied: { cpus: 1 }, way: { _tag: "None" } }
    )
    assert.deepStrictEqual(said(findings), [
      "container ok: starts one in 0.3 s; limits its cores",
      "container warn: cannot limit its memory, storage and processes",
      "container warn: cannot bridge a relay of this machine into it; that needs Linux, root, and an engine on this machine",
      "container warn: cannot tell that memory ran out"
    ])
    for (const { next } of findings.slice(1)) assert.isString(next)
  })
})

describe("a relay", () => {
  const answers = (
    skewSeconds: number | undefined,
    socket: RelayCheck.RelayAnswers["socket"] = Result.succeed("authenticated")
  ): RelayCheck.RelayAnswers => ({ http: Result.succeed({ millis: 20, skewSeconds }), socket })
  const judge = (it: RelayCheck.RelayAnswers) => said(RelayCheck.judge("ws://r", it))

  it("answers over HTTP and WebSocket, or is named with what is missing", () => {
    assert.deepStrictEqual(judge(answers(0)), [
      "relay ok: ws://r answers in 0.0 s and takes a fresh key",
      "clock ok: the same second here and at the relay"
    ])
    assert.deepStrictEqual(
      judge(answers(0, Result.succeed("refused")))[0],
      "relay warn: ws://r answers in 0.0 s, but takes no fresh key"
    )
    assert.deepStrictEqual(
      judge(answers(0, Result.fail("status 502")))[0],
      "relay missing: ws://r answers over HTTP, but not over WebSocket: status 502"
    )
    assert.deepStrictEqual(
      judge({ http: Result.fail("status 502"), socket: Result.succeed("authenticated") })[0],
      "relay missing: ws://r answers over WebSocket, but not over HTTP: status 502"
    )
    assert.deepStrictEqual(judge({ http: Result.fail("refused"), socket: Result.fail("refused") }), [
      "relay missing: ws://r does not answer: refused"
    ])
  })

  it("has a clock that agrees, differs, or differs too much", () => {
    const clock = (skewSeconds: number | undefined, socket?: RelayCheck.RelayAnswers["socket"]) =>
      judge(answers(skewSeconds, socket))[1]
    assert.strictEqual(clock(5), "clock ok: 5 s behind the relay's")
    assert.strictEqual(clock(-30), "clock warn: 30 s ahead of the relay's; more than 60 s are refused")
    assert.strictEqual(clock(61), "clock missing: 61 s behind the relay's; more than 60 s are refused")
    assert.match(clock(undefined) ?? "", /^clock ok: within 60 s/)
    assert.match(clock(undefined, Result.succeed("refused")) ?? "", /^clock warn: the relay does not say its time/)
  })
})

describe("a disk", () => {
  it("has room, little of it, or too little", () => {
    const judge = (bytes: number | undefined) => said([DiskCheck.judge("logs", "/d/e", { at: "/d", bytes })])[0]
    assert.strictEqual(judge(5.5 * 1024 ** 3), "disk ok: 5.5 GiB for logs in /d/e")
    assert.strictEqual(judge(500 * 1024 ** 2), "disk warn: 500 MiB for logs in /d/e")
    assert.strictEqual(judge(50 * 1024 ** 2), "disk missing: 50 MiB for logs in /d/e")
    assert.strictEqual(judge(undefined), "disk missing: no room for logs in /d/e: /d cannot be written")
  })
})
