/**
 * Whether a relay answers agents in an environment: a WebSocket handshake from inside, by nothing but the bash that the agents
 * need anyway. What is sent and how the answer is read is pure; RFC 6455 section 1.3 has key and answer.
 */
import { agentRelayUrl } from "@buzz-orchestra/relay/RelayUrl"
import { Duration, Effect, Result } from "effect"
import type { EnvironmentError } from "./EnvironmentError.ts"
import { EnvironmentService } from "./EnvironmentService.ts"
import { quote } from "./internal/shellText.ts"

/** What a probe found. */
export type RelayProbe =
  /** It answered the handshake, or with TLS at least the connection. */
  | { readonly _tag: "RelayAnswered"; readonly handshake: boolean }
  | { readonly _tag: "RelaySilent"; readonly detail: string }
  /** The environment has no means to ask. */
  | { readonly _tag: "RelayNotProbed"; readonly detail: string }

/** The example of the RFC: any 16 bytes will do. */
const KEY = "dGhlIHNhbXBsZSBub25jZQ=="
const ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

/** A relay that is there answers in milliseconds; a packet filter that drops answers never. */
const LIMIT = Duration.seconds(10)

/** What bash says that was built without `/dev/tcp`, or finds no such file in its place. */
const NO_NETWORK = /\/dev\/tcp\/[^:]*: No such file or directory/

/** Exit codes of the probe's script. */
const NO_BASH = 90
const NO_CONNECTION = 91

/** Asks the relay at its agents' URL, once, from inside. */
export const probeRelay = Effect.fn("RelayProbe.probeRelay")(function* (
  relayUrl: string
): Effect.fn.Return<RelayProbe, EnvironmentError, EnvironmentService> {
  const { exec } = yield* EnvironmentService
  const url = agentRelayUrl(relayUrl)
  if (Result.isFailure(url)) return { _tag: "RelayNotProbed", detail: url.failure.message }
  const result = yield* exec(probeScript(new URL(url.success)), { cwd: "/", timeLimit: LIMIT })
  if (result.timedOut) return { _tag: "RelaySilent", detail: `no answer within ${Duration.format(LIMIT)}` }
  if (result.exitCode === NO_BASH) return { _tag: "RelayNotProbed", detail: "there is no bash to ask with" }
  if (result.exitCode === NO_CONNECTION && NO_NETWORK.test(result.stderr))
    return { _tag: "RelayNotProbed", detail: "its bash was built without network connections" }
  return readAnswer(new URL(url.success), result)
})

const isSecure = ({ protocol }: URL): boolean => protocol === "wss:"

/** Prints the answer's status line and headers. With TLS it only connects: bash speaks none. */
const probeScript = (url: URL): string => {
  const host = url.hostname.replace(/^\[|\]$/g, "")
  const port = url.port || (isSecure(url) ? "443" : "80")
  const request = [
    `GET ${url.pathname || "/"} HTTP/1.1`,
    `Host: ${url.host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${KEY}`
  ]
  const ask = `exec 3<>"/dev/tcp/$1/$2" || exit ${NO_CONNECTION}
[ -n "$3" ] || exit 0
printf '%s\\r\\n\\r\\n' "$3" >&3
while IFS= read -r line <&3; do
  line=\${line%$'\\r'}
  [ -n "$line" ] || exit 0
  printf '%s\\n' "$line"
done`
  const text = isSecure(url) ? "" : request.join("\r\n")
  return `command -v bash >/dev/null 2>&1 || exit ${NO_BASH}
bash -c ${quote(ask)} probe ${[host, port, text].map(quote).join(" ")}`
}

const readAnswer = (
  url: URL,
  { exitCode, stderr, stdout }: { readonly exitCode: number; readonly stdout: string; readonly stderr: string }
): RelayProbe => {
  if (exitCode === NO_CONNECTION) {
    // `bash: connect: Connection refused`, and a second line that says the same of the redirection.
    const detail = stderr.split("\n")[0]?.replace(/^.*?: connect: /, "") ?? ""
    return { _tag: "RelaySilent", detail: detail === "" ? "no connection" : detail }
  }
  if (isSecure(url)) return { _tag: "RelayAnswered", handshake: false }
  const [status = "", ...headers] = stdout.split("\n")
  const accept = headers.find((line) => /^sec-websocket-accept:/i.test(line))?.replace(/^[^:]*:\s*/, "")
  if (status.startsWith("HTTP/1.1 101 ") && accept?.trim() === ACCEPT) return { _tag: "RelayAnswered", handshake: true }
  return { _tag: "RelaySilent", detail: status === "" ? "it closed the connection" : `it answered ${status}` }
}
