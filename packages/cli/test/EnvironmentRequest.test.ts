import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type EnvironmentFlags, parseEnvironment } from "../src/EnvironmentRequest.ts"

const NOTHING: EnvironmentFlags = {
  environment: "local",
  image: undefined,
  dockerfile: undefined,
  container: undefined,
  memory: undefined,
  cpus: undefined,
  storage: undefined,
  pids: undefined,
  network: undefined,
  user: undefined
}

const local = (flags: Partial<EnvironmentFlags>) => parseEnvironment({ ...NOTHING, ...flags })
const docker = (flags: Partial<EnvironmentFlags>) => local({ environment: "docker", ...flags })

const refusal = (result: ReturnType<typeof parseEnvironment>) =>
  Result.isFailure(result) ? [result.failure.detail, result.failure.instead] : ["accepted"]

describe("a local sandbox", () => {
  it("is what is asked for when nothing is said", () => {
    assert.deepStrictEqual(local({}), Result.succeed({ _tag: "Local" as const }))
  })

  it("refuses what only a container has, and names each of it", () => {
    assert.deepStrictEqual(refusal(local({ image: "debian:12", memory: 512, network: "none" })), [
      "--image, --memory and --network mean nothing in a local sandbox",
      "add --environment docker, or leave --image, --memory and --network out"
    ])
    assert.include(refusal(local({ user: "1000", pids: 5 }))[0], "--pids and --user mean nothing")
    assert.deepStrictEqual(refusal(local({ cpus: 2 })), [
      "--cpus means nothing in a local sandbox",
      "add --environment docker, or leave --cpus out"
    ])
  })
})

describe("this machine without a sandbox", () => {
  it("is what nobody gets who does not ask for it", () => {
    assert.deepStrictEqual(local({ environment: "plain" }), Result.succeed({ _tag: "Plain" as const }))
    assert.deepStrictEqual(refusal(local({ environment: "plain", image: "a" })), [
      "--image means nothing without a sandbox",
      "add --environment docker, or leave --image out"
    ])
  })
})

describe("a container", () => {
  const made = { _tag: "Container" as const, limits: {}, network: undefined, user: undefined }

  it("comes from an image, a directory with a Dockerfile, or is there", () => {
    for (const [flags, source] of [
      [{ image: "debian:12" }, { _tag: "Image", reference: "debian:12" }],
      [{ dockerfile: "task" }, { _tag: "Dockerfile", directory: "task" }],
      [{ container: "3f2a" }, { _tag: "Container", id: "3f2a" }]
    ] as const)
      assert.deepStrictEqual(docker(flags), Result.succeed({ ...made, source }))
  })

  it("has the limits and the network that are given, and no others", () => {
    assert.deepStrictEqual(
      docker({ image: "a", memory: 512, cpus: 0.5, storage: 100, pids: 64, network: "none", user: "1000" }),
      Result.succeed({
        _tag: "Container" as const,
        source: { _tag: "Image" as const, reference: "a" },
        limits: { cpus: 0.5, memoryMb: 512, storageMb: 100, pids: 64 },
        network: "none",
        user: "1000"
      })
    )
  })

  it("is one: not two, and not none unless the command has one of its own", () => {
    const choices = "give one: --image REF, --dockerfile DIR, or --container ID of one that runs"
    assert.deepStrictEqual(refusal(docker({ image: "a", container: "b" })), [
      "--image and --container name more than one container",
      choices
    ])
    assert.deepStrictEqual(refusal(docker({})), ["no container is given", choices])
    const source = { _tag: "ThisMachine" as const }
    const withOwn = parseEnvironment({ ...NOTHING, environment: "docker" }, source)
    assert.deepStrictEqual(withOwn, Result.succeed({ ...made, source }))
  })

  it("that exists keeps its settings; whose commands are run in it is nobody's but the trial's", () => {
    assert.isTrue(Result.isSuccess(docker({ container: "b", user: "1000" })))
    assert.deepStrictEqual(refusal(docker({ container: "b", network: "none", memory: 5 })), [
      "--memory and --network cannot be changed of a container that exists",
      "leave --memory and --network out, or have a container made with --image REF or --dockerfile DIR"
    ])
  })
})
