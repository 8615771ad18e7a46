// @module-tag thorough
/** Engines behind TCP, with and without TLS: a server of the tests' own that says no more than a version. */
import { NodeServices } from "@effect/platform-node"
import { ContainerEngine } from "@buzz-orchestra/runtime/docker/ContainerEngine"
import * as ContainerEngineApi from "@buzz-orchestra/runtime/docker/ContainerEngineApi"
import type { EngineEndpoint } from "@buzz-orchestra/runtime/docker/EngineEndpoint"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, FileSystem, type Scope } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { createServer as createHttps } from "node:https"
import type { AddressInfo } from "node:net"

const hasOpenssl = spawnSync("sh", ["-c", "command -v openssl"]).status === 0

const VERSION = { Version: "1.2.3", ApiVersion: "1.41", Os: "linux", Arch: "arm64", Components: [{ Name: "Engine" }] }

const answer = (_request: IncomingMessage, response: ServerResponse) => {
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify(VERSION))
}

const listening = (make: () => Server): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = make()
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(Effect.map((server) => (server.address() as AddressInfo).port))

/** A certificate authority, a server's and a client's certificate of it, named as Docker has them. */
const CERTIFICATES = `
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca-key.pem -out ca.pem
for name in server client; do
  openssl req -newkey rsa:2048 -nodes -subj /CN=$name -keyout $name-key.pem -out $name.csr
  printf 'subjectAltName=IP:127.0.0.1' >extension
  openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile extension -out $name.pem
done
mv client.pem cert.pem; mv client-key.pem key.pem
`

const versionAt = (endpoint: EngineEndpoint) =>
  Effect.map(Effect.provide(ContainerEngine, ContainerEngineApi.layer(endpoint)), ({ facts }) => facts)

layer(NodeServices.layer)("a connection to an engine", (it) => {
  it.effect("speaks over TCP, whatever the variables say that dockerode reads by itself", () =>
    Effect.gen(function* () {
      const port = yield* listening(() => createHttp(answer))
      const facts = yield* versionAt({ _tag: "Tcp", host: "127.0.0.1", port, tls: undefined })
      assert.deepInclude(facts, { flavor: "docker", version: "1.2.3", architecture: "aarch64", local: false })
      assert.strictEqual(facts.address, `tcp://127.0.0.1:${port}`)
    }).pipe(Effect.scoped)
  )

  it.effect("says who does not answer", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(versionAt({ _tag: "Unix", path: "/no/such.sock" }))
      assert.strictEqual(error._tag, "EngineUnreachable")
      assert.match(error.message, /no container engine answers at unix:\/\/\/no\/such\.sock/)
    })
  )

  it.effect("refuses ssh with a way round it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(versionAt({ _tag: "Ssh", url: "ssh://me@build" }))
      assert.match(error.message, /ssh -nNT -L .* DOCKER_HOST=unix:\/\/\/tmp\/engine\.sock/)
    })
  )

  describe.skipIf(!hasOpenssl)("with TLS", () => {
    it.effect("shows its certificate and checks the other's, unless it was told not to", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const directory = yield* fs.makeTempDirectoryScoped()
        const bare = yield* fs.makeTempDirectoryScoped()
        execFileSync("sh", ["-ec", CERTIFICATES], { cwd: directory, stdio: "ignore" })
        const read = (name: string) => readFileSync(`${directory}/${name}`)
        const [ca, cert, key] = [read("ca.pem"), read("server.pem"), read("server-key.pem")]
        const port = yield* listening(() =>
          createHttps({ ca, cert, key, requestCert: true, rejectUnauthorized: true }, answer)
        )
        const at = (tls: { readonly directory: string; readonly verify: boolean }) =>
          versionAt({ _tag: "Tcp", host: "127.0.0.1", port, tls })
        assert.strictEqual((yield* at({ directory, verify: true })).version, "1.2.3")
        const noAuthority = yield* Effect.flip(at({ directory: bare, verify: true }))
        assert.match(noAuthority.message, /needs .*ca\.pem, which cannot be read/)
        const noCertificate = yield* Effect.flip(at({ directory: bare, verify: false }))
        assert.strictEqual(noCertificate._tag, "EngineUnreachable")
        for (const name of ["cert.pem", "key.pem"]) yield* fs.copyFile(`${directory}/${name}`, `${bare}/${name}`)
        assert.strictEqual((yield* at({ directory: bare, verify: false })).version, "1.2.3")
        // Its own authority did not sign the server's.
        yield* fs.copyFile(`${directory}/cert.pem`, `${bare}/ca.pem`)
        const stranger = yield* Effect.flip(at({ directory: bare, verify: true }))
        assert.strictEqual(stranger._tag, "EngineUnreachable")
      }).pipe(Effect.scoped)
    )
  })
})
