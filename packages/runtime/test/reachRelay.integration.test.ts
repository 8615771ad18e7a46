// @module-tag thorough
/** The relay as a real sandbox sees it, which has this machine's network, and a forwarder that outlives a trial. */
import { NodeServices } from "@effect/platform-node"
import { AgentSupervisor } from "@buzz-orchestra/runtime/AgentSupervisor"
import * as AgentSupervisorLive from "@buzz-orchestra/runtime/AgentSupervisorLive"
import { EnvironmentService } from "@buzz-orchestra/runtime/EnvironmentService"
import { DEFAULT_LAYOUT as layout } from "@buzz-orchestra/runtime/Layout"
import * as LocalEnvironment from "@buzz-orchestra/runtime/LocalEnvironment"
import * as RelayForwarder from "@buzz-orchestra/runtime/RelayForwarder"
import { FORWARDER } from "@buzz-orchestra/runtime/StackFiles"
import { sweep } from "@buzz-orchestra/runtime/Sweep"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { type AddressInfo, createServer, type Server } from "node:net"
import { ownerOfPort } from "../src/internal/portOwner.ts"
import { encode } from "./support/bytes.ts"
import { isAlive, output } from "./support/environment.ts"
import { askRelay, DEAD_RELAY } from "./support/relay.ts"

const listening = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = createServer().listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close())
)

/** One phase of a trial in the environment: its own supervision, and the logs emptied as installing does. */
const inTrial = Effect.fnUntraced(function* <A, E>(
  options: Partial<RelayForwarder.ForwarderOptions>,
  then: Then<A, E>
) {
  yield* output(`mkdir -p ${layout.logs} && rm -f ${layout.logs}/*`)
  const supervision = yield* AgentSupervisor.use(({ open }) =>
    open({ layout, channelId: "", onWatchEvent: () => Effect.void, redact: (text) => text })
  )
  const stack = { layout, digests: { [FORWARDER]: "0" }, architecture: "" }
  const addresses = { relayUrl: "ws://localhost:3600", gateway: "gateway:3600" }
  const readyWithin = Duration.seconds(20)
  return yield* then(yield* RelayForwarder.start({ supervision, stack, ...addresses, readyWithin, ...options }))
}, Effect.scoped)

type Then<A, E> = (
  running: Effect.Success<ReturnType<typeof RelayForwarder.start>>
) => Effect.Effect<A, E, EnvironmentService>

describe("in a local sandbox", () => {
  const sandbox = LocalEnvironment.layer().pipe(Layer.provideMerge(NodeServices.layer))

  it.live("a relay that is not there ends the phase, and who holds a port of this machine is found out", () =>
    Effect.gen(function* () {
      const server = yield* listening
      const silent = yield* Effect.flip(askRelay(DEAD_RELAY))
      assert.deepInclude(silent, { _tag: "RelayNotAnswering", through: "nothing", detail: "Connection refused" })
      const { port } = server.address() as AddressInfo
      assert.include(yield* ownerOfPort(`127.0.0.1:${port}`), `process ${process.pid} of this machine (`)
      assert.isUndefined(yield* ownerOfPort("127.0.0.1:9"))
    }).pipe(Effect.scoped, Effect.provide(sandbox))
  )

  it.live("a forwarder that was kept is adopted by the next trial, which hears of its end", () =>
    Effect.gen(function* () {
      const { upload } = yield* EnvironmentService
      const program = encode('#!/bin/sh\necho "forwarding $1 -> $2"\nsleep 1000 &\nwait')
      yield* upload({ content: program }, `${layout.bin}/${FORWARDER}`, { mode: 0o755 })
      const kept = yield* inTrial({ keep: true }, ({ pid }) =>
        Effect.as(sweep({ roots: [], bin: layout.bin, spare: [pid] }), pid)
      )
      assert.isTrue(yield* isAlive(kept))
      const end = yield* inTrial({ adopt: true }, ({ end, pid }) => {
        assert.strictEqual(pid, kept)
        return Effect.andThen(output(`kill -KILL ${pid}`), Effect.timeout(end, "20 seconds"))
      })
      assert.deepInclude(end, { pid: kept, signal: "SIGKILL" })
    }).pipe(Effect.provide(AgentSupervisorLive.layer.pipe(Layer.provideMerge(sandbox))))
  )
})
