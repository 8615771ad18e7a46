/**
 * Launches one agent of the reference stack as a launcher does.
 */
import { Effect, FileSystem } from "effect"
import * as Programs from "./programs.ts"
import type * as Relay from "./relay.ts"

/** A launched agent: its `buzz-acp`, and the directory it works in. */
export interface Launched extends Programs.Running {
  readonly cwd: string
}

/** Who is launched, where, and what it plays. */
export interface LaunchOptions {
  readonly self: Relay.Person
  readonly user: Relay.Person
  readonly channel: string
  readonly playbook: string
  readonly team?: ReadonlyArray<Relay.Person>
  /** Default: a directory of its own. */
  readonly cwd?: string
  readonly env?: Record<string, string>
}

/** Starts `buzz-acp` with the environment of a launcher and waits until it listens to the channel. */
export const launch = Effect.fnUntraced(function* (options: LaunchOptions) {
  const fileSystem = yield* FileSystem.FileSystem
  const home = yield* fileSystem.makeTempDirectoryScoped({ prefix: "acp-test-" })
  const cwd = options.cwd ?? home
  yield* fileSystem.writeFileString(`${home}/playbook.yaml`, options.playbook)
  yield* fileSystem.writeFileString(`${home}/prompt.md`, systemPrompt(options))
  const running = yield* Programs.start(yield* Programs.programPath("buzz-acp"), [], {
    cwd,
    env: {
      HOME: home,
      NO_COLOR: "1",
      RUST_LOG: "buzz_acp=info,pool::prompt=info,acp::usage=debug,acp::tool=info,acp::stream=info,acp::wire=off",
      ...options.self.env,
      BUZZ_ACP_AGENT_COMMAND: yield* Programs.programPath("buzz-agent"),
      BUZZ_ACP_AGENT_ARGS: "",
      BUZZ_ACP_MCP_COMMAND: yield* Programs.programPath("buzz-dev-mcp"),
      BUZZ_ACP_SUBSCRIBE: "mentions",
      BUZZ_ACP_RESPOND_TO: "anyone",
      BUZZ_ACP_NO_MEMORY: "true",
      BUZZ_ACP_SYSTEM_PROMPT_FILE: `${home}/prompt.md`,
      BUZZ_AGENT_PROVIDER: "scripted",
      SCRIPTED_API_KEY: "provider-key",
      SCRIPTED_PLAYBOOK: `${home}/playbook.yaml`,
      ...options.env
    }
  })
  yield* running.awaitOutput(`subscribed to channel ${options.channel}`)
  const launched: Launched = { ...running, cwd }
  return launched
})

const systemPrompt = ({ channel, self, team = [], user }: LaunchOptions): string =>
  [
    "# Persona",
    `You are \`${self.name}\` (pubkey \`${self.identity.pubkey}\`). You work in the channel \`${channel}\`.`,
    `The task comes from the user \`${user.name}\` (pubkey \`${user.identity.pubkey}\`); report to them.`,
    "| Name | Role | Pubkey |",
    "| --- | --- | --- |",
    ...team.map(({ identity, name }) => `| ${name} | worker | \`${identity.pubkey}\` |`)
  ].join("\n")
