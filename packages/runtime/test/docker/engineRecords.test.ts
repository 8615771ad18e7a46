import { assert, describe, it } from "@effect/vitest"
import type Docker from "dockerode"
import {
  toContainerEvent,
  toContainerState,
  toMachine,
  toNetworkFacts
} from "../../src/docker/internal/engineRecords.ts"

const named = (action: string) => toContainerEvent(JSON.stringify({ Action: action, Type: "container" }))

/** What is read from a network with this address pool. */
const network = (config: object) =>
  toNetworkFacts({
    Name: "n",
    Driver: "bridge",
    Internal: false,
    IPAM: { Config: [config] }
  } as Docker.NetworkInspectInfo)

/** The limits that are read from a container with this host configuration. */
const limits = (host: object) =>
  toContainerState({
    Id: "i",
    Name: "/n",
    State: {},
    Config: {},
    NetworkSettings: {},
    Mounts: [],
    HostConfig: host
  } as unknown as Docker.ContainerInspectInfo).applied.limits

describe("records of an engine", () => {
  it("name architectures as uname does", () => {
    assert.deepStrictEqual(["amd64", "arm64", "386", "riscv64"].map(toMachine), [
      "x86_64",
      "aarch64",
      "i686",
      "riscv64"
    ])
  })

  it("give events of both engines one name, and none to what nobody asked for", () => {
    assert.deepStrictEqual(["die", "died", "destroy", "remove", "pause", "oom"].map(named), [
      "stopped",
      "stopped",
      "removed",
      "removed",
      "paused",
      "out-of-memory"
    ])
    assert.isUndefined(named("exec_create: sh"))
    assert.isUndefined(toContainerEvent("no JSON"))
  })

  it("find the gateway that Docker does not name", () => {
    assert.deepStrictEqual(network({ Subnet: "172.17.0.0/16" }).gateways, ["172.17.0.1"])
    assert.deepStrictEqual(network({ Subnet: "10.1.2.128/25", Gateway: "10.1.2.200" }).gateways, ["10.1.2.200"])
    assert.deepStrictEqual(network({ Subnet: "fd00::/64" }).gateways, [])
  })

  it("read limits however an engine writes them, and none where it sets none", () => {
    assert.deepStrictEqual(limits({ NanoCpus: 0, Memory: 0, PidsLimit: null, CpuQuota: 0 }), {})
    assert.deepStrictEqual(limits({ PidsLimit: -1 }), {})
    assert.deepStrictEqual(limits({ CpuQuota: 150_000, CpuPeriod: 100_000 }), { cpus: 1.5 })
    assert.deepStrictEqual(limits({ Memory: 1024 * 1024, PidsLimit: 5, StorageOpt: { size: "7M" } }), {
      memoryMb: 1,
      pids: 5,
      storageMb: 7
    })
  })
})
