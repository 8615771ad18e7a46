/**
 * The MCP servers that an agent's sessions get. Pure.
 */
import type { McpServer } from "@agentclientprotocol/sdk"
import * as Identity from "@buzz-orchestra/relay/Identity"
import { Redacted } from "effect"
import type { AcpConfig } from "./AcpConfig.ts"

/** The one server of `BUZZ_ACP_MCP_COMMAND`, named like its program, with the identity it speaks as; or none. */
export const mcpServers = (
  config: Pick<AcpConfig, "mcpCommand" | "relayUrl">,
  identity: Identity.Identity
): ReadonlyArray<McpServer> => {
  if (config.mcpCommand === "") return []
  const file = config.mcpCommand.split("/").at(-1) ?? ""
  return [
    {
      name: file.replace(/(?<=.)\.[^.]*$/, ""),
      command: config.mcpCommand,
      args: [],
      env: [
        { name: "BUZZ_RELAY_URL", value: config.relayUrl },
        { name: "BUZZ_PRIVATE_KEY", value: Redacted.value(Identity.nsec(identity)) },
        ...(identity.authTag === undefined ? [] : [{ name: "BUZZ_AUTH_TAG", value: Redacted.value(identity.authTag) }])
      ]
    }
  ]
}
