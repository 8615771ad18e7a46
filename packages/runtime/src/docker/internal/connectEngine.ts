/**
 * Needs `node:https` and `dockerode`: a connection to a container engine, whatever the environment variables that dockerode
 * reads by itself may say.
 */
import Docker from "dockerode"
import { Effect, FileSystem, Option, Path } from "effect"
import { Agent } from "node:https"
import { describe, EngineAddressInvalid, type EngineEndpoint, type EngineTls } from "../EngineEndpoint.ts"

/** Nothing is sent yet. */
export const connectEngine = Effect.fnUntraced(function* (endpoint: EngineEndpoint) {
  switch (endpoint._tag) {
    case "Unix":
      return yield* open(endpoint, { host: undefined, socketPath: endpoint.path, protocol: "http" })
    case "Ssh":
      return yield* new EngineAddressInvalid({
        source: describe(endpoint),
        detail:
          "is reached through ssh, which is not supported: forward its socket " +
          "(ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock HOST) and set DOCKER_HOST=unix:///tmp/engine.sock"
      })
    case "Tcp": {
      const { host, port, tls } = endpoint
      if (tls === undefined) return yield* open(endpoint, { host, port, protocol: "http" })
      const files = yield* certificates(endpoint, tls)
      // The connection's own checks come with its agent; dockerode has no switch for them.
      const agent = new Agent({ ...files, rejectUnauthorized: tls.verify, keepAlive: true })
      return yield* open(endpoint, { host, port, protocol: "https", agent, ...files })
    }
  }
})

const certificates = Effect.fnUntraced(function* (endpoint: EngineEndpoint, { directory, verify }: EngineTls) {
  if (directory === "") return {}
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const pem = (name: string) => Effect.option(fs.readFile(path.join(directory, name)))
  const [ca, cert, key] = yield* Effect.all([pem("ca.pem"), pem("cert.pem"), pem("key.pem")])
  if (verify && Option.isNone(ca)) {
    return yield* new EngineAddressInvalid({
      source: describe(endpoint),
      detail: `needs ${path.join(directory, "ca.pem")}, which cannot be read`
    })
  }
  return { ...optionalPem("ca", ca), ...optionalPem("cert", cert), ...optionalPem("key", key) }
})

const optionalPem = <Name extends string>(name: Name, file: Option.Option<Uint8Array>) =>
  Option.isNone(file) ? {} : { [name]: Buffer.from(file.value) }

/** `agent` is missing from dockerode's types, and its own defaults must be overridden by name. */
type Options = Omit<Docker.DockerOptions, "host"> & { readonly host: string | undefined; readonly agent?: Agent }

/** dockerode reads the variables even when everything is given, and throws for certificates that are not there. */
const open = (endpoint: EngineEndpoint, options: Options): Effect.Effect<Docker, EngineAddressInvalid> =>
  Effect.try({
    try: () => new Docker({ ca: undefined, cert: undefined, key: undefined, ...options } as Docker.DockerOptions),
    catch: (cause) =>
      new EngineAddressInvalid({
        source: describe(endpoint),
        detail: `cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`
      })
  })
