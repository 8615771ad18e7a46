/**
 * Which container engine to speak to, found as the `docker` program finds it: `DOCKER_HOST`, else the context named by
 * `DOCKER_CONTEXT`, else the configuration's current context, else the default socket. Pure; reading the files is
 * `EngineAddress`'s part. Formats: docs.docker.com/engine/manage-resources/contexts and the CLI's environment variables.
 */
import { Result, Schema } from "effect"

/** Where an engine listens. Certificates are paths; they are read when the connection is made. */
export type EngineEndpoint =
  | { readonly _tag: "Unix"; readonly path: string }
  | { readonly _tag: "Tcp"; readonly host: string; readonly port: number; readonly tls: EngineTls | undefined }
  | { readonly _tag: "Ssh"; readonly url: string }

/** Directory with `ca.pem`, `cert.pem` and `key.pem`, and whether the server's certificate is checked. */
export interface EngineTls {
  readonly directory: string
  readonly verify: boolean
}

/** An engine address that cannot be understood. */
export class EngineAddressInvalid extends Schema.TaggedError<EngineAddressInvalid>()("EngineAddressInvalid", {
  /** The variable or file that holds it. */
  source: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `the container engine's address from ${this.source} ${this.detail}`
  }
}

/** What the operator chose by environment variables. Empty means unset, as the `docker` program has it. */
export interface EngineVariables {
  readonly DOCKER_HOST?: string | undefined
  readonly DOCKER_CONTEXT?: string | undefined
  readonly DOCKER_TLS_VERIFY?: string | undefined
  readonly DOCKER_CERT_PATH?: string | undefined
}

/** The parts of a context's `meta.json` that say where it is. */
export const ContextMeta = Schema.Struct({
  Name: Schema.String,
  Endpoints: Schema.Struct({
    docker: Schema.Struct({ Host: Schema.String, SkipTLSVerify: Schema.optionalKey(Schema.Boolean) })
  })
})
/** The parts of a context's `meta.json` that say where it is. */
export type ContextMeta = typeof ContextMeta.Type

/** Where the engine's socket is when nobody says otherwise. */
export const DEFAULT_SOCKET = "/var/run/docker.sock"

/** What the variables alone decide: an endpoint, or the name of the context to look up (`undefined`: the current one). */
export const fromVariables = (
  variables: EngineVariables,
  defaultCertificates: string
): Result.Result<EngineEndpoint | { readonly context: string | undefined }, EngineAddressInvalid> => {
  const host = variables.DOCKER_HOST
  if (host === undefined || host === "") return Result.succeed({ context: variables.DOCKER_CONTEXT || undefined })
  const verify = (variables.DOCKER_TLS_VERIFY ?? "") !== ""
  const certificates = variables.DOCKER_CERT_PATH || undefined
  const tls =
    verify || certificates !== undefined ? { directory: certificates ?? defaultCertificates, verify } : undefined
  return parseHost(host, "DOCKER_HOST", tls)
}

/** What a context says. `tlsDirectory` is given when the context stores certificates. */
export const fromContext = (
  meta: ContextMeta,
  tlsDirectory: string | undefined
): Result.Result<EngineEndpoint, EngineAddressInvalid> => {
  const { Host, SkipTLSVerify = false } = meta.Endpoints.docker
  const tls = tlsDirectory === undefined ? undefined : { directory: tlsDirectory, verify: !SkipTLSVerify }
  return parseHost(Host, `context "${meta.Name}"`, tls)
}

/** `unix://`, `tcp://`, `http(s)://` and `ssh://`, as they stand in `DOCKER_HOST` and in contexts. */
export const parseHost = (
  host: string,
  source: string,
  tls: EngineTls | undefined
): Result.Result<EngineEndpoint, EngineAddressInvalid> => {
  const invalid = (detail: string) => Result.fail(new EngineAddressInvalid({ source, detail }))
  if (host.startsWith("unix://")) {
    const path = host.slice("unix://".length)
    return path.startsWith("/") ? Result.succeed({ _tag: "Unix", path }) : invalid("names no absolute socket path")
  }
  if (!URL.canParse(host)) return invalid("is no URL such as unix:///var/run/docker.sock or tcp://host:2376")
  const url = new URL(host)
  switch (url.protocol) {
    case "ssh:":
      return Result.succeed({ _tag: "Ssh", url: host })
    case "tcp:":
    case "http:":
    case "https:": {
      if (url.hostname === "") return invalid("names no host")
      const secure = tls ?? (url.protocol === "https:" ? { directory: "", verify: true } : undefined)
      const port = url.port === "" ? (secure === undefined ? 2375 : 2376) : Number(url.port)
      // An IPv6 literal keeps its brackets in a URL and must lose them in a socket address.
      return Result.succeed({ _tag: "Tcp", host: url.hostname.replace(/^\[|\]$/g, ""), port, tls: secure })
    }
    default:
      return invalid(`has the scheme ${url.protocol}// which no engine speaks (unix, tcp, ssh)`)
  }
}

/** How an endpoint is named to people: never with credentials. */
export const describe = (endpoint: EngineEndpoint): string => {
  switch (endpoint._tag) {
    case "Unix":
      return `unix://${endpoint.path}`
    case "Tcp":
      return `tcp://${endpoint.host}:${endpoint.port}${endpoint.tls === undefined ? "" : " (TLS)"}`
    case "Ssh":
      return `ssh://${URL.canParse(endpoint.url) ? new URL(endpoint.url).host : "?"}`
  }
}
