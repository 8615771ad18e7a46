import { assert, describe, it } from "@effect/vitest"
import { type ContainerSpec, createBody } from "@buzz-orchestra/runtime/docker/ContainerSpec"

const spec: ContainerSpec = {
  name: "c",
  image: "i",
  command: ["sh", "-c", ":"],
  stopSignal: "SIGUSR1",
  labels: { a: "b" },
  limits: {},
  network: "public",
  init: false,
  environment: { A: "1=2" },
  mounts: [],
  temporary: [],
  readOnlyRoot: false,
  extraHosts: ["db:10.0.0.1"]
}

const host = (news: Partial<ContainerSpec>, flavor: "docker" | "podman" = "docker") =>
  createBody({ ...spec, ...news }, flavor).HostConfig

describe("createBody", () => {
  it("replaces the image's entry point and switches its health check off", () => {
    const body = createBody(spec, "docker")
    assert.deepStrictEqual([body.Entrypoint, body.Cmd, body.Env], [["sh", "-c", ":"], [], ["A=1=2"]])
    assert.deepStrictEqual(body.Healthcheck, { Test: ["NONE"] })
    assert.isTrue(body.OpenStdin && body.StdinOnce)
  })

  it("limits memory without letting swap take over", () => {
    assert.deepInclude(host({ limits: { memoryMb: 64 } }), { Memory: 64 * 1024 * 1024, MemorySwap: 64 * 1024 * 1024 })
    assert.deepInclude(host({ limits: { cpus: 1.5, pids: 9, storageMb: 10 } }), {
      NanoCpus: 1_500_000_000,
      PidsLimit: 9,
      StorageOpt: { size: "10M" }
    })
    assert.notProperty(host({}), "Memory")
  })

  it("gives hosts entries only where there is a network to reach them by", () => {
    assert.deepStrictEqual(host({}).ExtraHosts, ["db:10.0.0.1", "host.docker.internal:host-gateway"])
    assert.deepStrictEqual(host({}, "podman").ExtraHosts, ["db:10.0.0.1"])
    assert.deepStrictEqual(host({ network: "none" }).ExtraHosts, [])
    assert.strictEqual(host({}).NetworkMode, "bridge")
  })

  it("gives Podman both of the limits that one alone would take away", () => {
    const { Ulimits } = host({}, "podman") as { readonly Ulimits: ReadonlyArray<{ readonly Name: string }> }
    assert.deepStrictEqual(
      Ulimits.map(({ Name }) => Name),
      ["nofile", "nproc"]
    )
    assert.notProperty(host({}), "Ulimits")
  })

  it("mounts so that a missing source is refused, and lets programs run from memory", () => {
    const { Mounts, Tmpfs } = host({
      mounts: [
        { source: "/host", target: "/in", readOnly: true },
        { source: "volume", target: "/v", readOnly: false }
      ],
      temporary: [{ target: "/t", sizeMb: 4 }]
    })
    assert.deepStrictEqual(Mounts, [
      { Type: "bind", Source: "/host", Target: "/in", ReadOnly: true },
      { Type: "volume", Source: "volume", Target: "/v", ReadOnly: false }
    ])
    assert.strictEqual(Tmpfs["/t"], "rw,exec,nosuid,nodev,mode=1777,size=4m")
  })
})
