import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { describe as name, fromContext, fromVariables, parseHost } from "../../src/docker/EngineEndpoint.ts"

const parsed = (host: string) => parseHost(host, "DOCKER_HOST", undefined)

describe("EngineEndpoint", () => {
  it("reads every form that DOCKER_HOST can have", () => {
    assert.deepStrictEqual(
      parsed("unix:///run/user/1000/docker.sock"),
      Result.succeed({ _tag: "Unix", path: "/run/user/1000/docker.sock" })
    )
    assert.deepStrictEqual(
      parsed("tcp://10.0.0.7"),
      Result.succeed({ _tag: "Tcp", host: "10.0.0.7", port: 2375, tls: undefined })
    )
    assert.deepStrictEqual(
      parsed("tcp://[::1]:4000"),
      Result.succeed({ _tag: "Tcp", host: "::1", port: 4000, tls: undefined })
    )
    assert.deepStrictEqual(
      parsed("ssh://me@build.example"),
      Result.succeed({ _tag: "Ssh", url: "ssh://me@build.example" })
    )
  })

  it("says where an address that it cannot read came from, and what would be one", () => {
    for (const [host, words] of [
      ["unix://relative", "names no absolute socket path"],
      ["docker.sock", "is no URL such as"],
      ["npipe:////./pipe/docker", "which no engine speaks"]
    ] as const) {
      const result = parsed(host)
      assert.isTrue(Result.isFailure(result))
      if (Result.isFailure(result)) {
        assert.strictEqual(result.failure.source, "DOCKER_HOST")
        assert.include(result.failure.message, words)
      }
    }
  })

  it("takes DOCKER_HOST before any context, and TLS from the variables", () => {
    const tls = { DOCKER_HOST: "tcp://engine:1234", DOCKER_CONTEXT: "other", DOCKER_TLS_VERIFY: "1" }
    assert.deepStrictEqual(
      fromVariables(tls, "/home/me/.docker"),
      Result.succeed({ _tag: "Tcp", host: "engine", port: 1234, tls: { directory: "/home/me/.docker", verify: true } })
    )
    assert.deepStrictEqual(
      fromVariables({ ...tls, DOCKER_TLS_VERIFY: "", DOCKER_CERT_PATH: "/certs" }, "/home/me/.docker"),
      Result.succeed({ _tag: "Tcp", host: "engine", port: 1234, tls: { directory: "/certs", verify: false } })
    )
  })

  it("treats an empty variable as unset", () => {
    assert.deepStrictEqual(
      fromVariables({ DOCKER_HOST: "", DOCKER_CONTEXT: "" }, "/c"),
      Result.succeed({ context: undefined })
    )
    assert.deepStrictEqual(fromVariables({ DOCKER_CONTEXT: "ci" }, "/c"), Result.succeed({ context: "ci" }))
  })

  it("reads a context with its stored certificates", () => {
    const meta = { Name: "ci", Endpoints: { docker: { Host: "tcp://ci:2376", SkipTLSVerify: true } } }
    assert.deepStrictEqual(
      fromContext(meta, "/tls/docker"),
      Result.succeed({ _tag: "Tcp", host: "ci", port: 2376, tls: { directory: "/tls/docker", verify: false } })
    )
  })

  it("never names credentials", () => {
    assert.strictEqual(name({ _tag: "Ssh", url: "ssh://me:secret@build.example:22" }), "ssh://build.example:22")
  })
})
