import { assert, describe, it } from "@effect/vitest"
import type { ContainerState } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import { type LossEvidence, lossDetail } from "@buzz-orchestra/runtime/docker/ContainerLoss"

const state = (news: Partial<ContainerState>, memoryMb?: number): ContainerState => ({
  id: "0".repeat(64),
  name: "c",
  running: false,
  paused: false,
  exitCode: 0,
  outOfMemory: false,
  hostPid: 0,
  image: "sha256:0",
  workDirectory: "",
  environment: [],
  labels: {},
  applied: {
    limits: memoryMb === undefined ? {} : { memoryMb },
    network: "none",
    init: false,
    user: "",
    readOnlyRoot: false,
    mounts: [],
    temporary: []
  },
  networks: [],
  ...news
})

const detail = (evidence: Partial<LossEvidence>) =>
  lossDetail({ flavor: "docker", state: state({}), outOfMemory: false, timeLimitSeconds: 60, ...evidence })

describe("lossDetail", () => {
  it("says what the engine knows of the end", () => {
    assert.match(detail({ state: undefined }), /was removed/)
    assert.match(detail({ state: state({ running: true, paused: true }) }), /is paused/)
    assert.match(detail({ state: state({ exitCode: 137 }) }), /killed from outside/)
    assert.strictEqual(detail({}), "the container stopped")
  })

  it("names the memory that was used up", () => {
    assert.match(
      detail({ state: state({ exitCode: 137, outOfMemory: true }, 64) }),
      /used up its memory limit of 64 MiB/
    )
    assert.match(detail({ state: state({ exitCode: 137 }), outOfMemory: true }), /used up the memory of its host/)
  })

  it("does not claim to know what Podman does not tell", () => {
    const killed = { flavor: "podman" as const, state: state({ exitCode: 137 }, 64) }
    assert.match(detail(killed), /does not tell whether it used up its memory limit of 64 MiB/)
    assert.match(detail({ ...killed, flavor: "docker" }), /killed from outside/)
  })

  it("knows the ends of its own PID 1, and takes nobody else's for them", () => {
    assert.match(detail({ state: state({ exitCode: 124 }) }), /its own time limit of 60 s/)
    assert.match(detail({ state: state({ exitCode: 127 }) }), /no program sleep/)
    assert.strictEqual(
      detail({ state: state({ exitCode: 124 }), timeLimitSeconds: undefined }),
      "the container stopped"
    )
  })
})
