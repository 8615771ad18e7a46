/**
 * The environment of an MCP server: a short list of the agent's own variables, then what the session asks for. Keys of
 * model providers and proxy settings do not reach it. Pure.
 */

/** What is passed on from the agent's environment when it is set there. */
const INHERITED = [
  "PATH",
  "HOME",
  "TERM",
  "LANG",
  "LC_ALL",
  "TMPDIR",
  "XDG_CONFIG_HOME",
  "SSH_AUTH_SOCK",
  "SSH_AGENT_PID",
  "GIT_ASKPASS",
  "GIT_SSH_COMMAND",
  "GIT_CONFIG_GLOBAL",
  "NOSTR_PRIVATE_KEY",
  "BUZZ_PRIVATE_KEY",
  "BUZZ_RELAY_URL"
] as const

/** The complete environment; the session's variables win. */
export const compose = (
  env: Readonly<Record<string, string | undefined>>,
  session: ReadonlyArray<{ readonly name: string; readonly value: string }>
): Record<string, string> => ({
  ...Object.fromEntries(INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
  ...Object.fromEntries(session.map(({ name, value }) => [name, value]))
})
