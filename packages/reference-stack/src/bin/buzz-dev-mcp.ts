/** Entry of the program `buzz-dev-mcp`, which is also `buzz` when it is asked to be. */
import * as Program from "../Program.ts"
import { multicall } from "../buzz-dev-mcp/ShellPath.ts"

const call = multicall(process.argv.slice(2))

// Each half is loaded only when it is the one: `buzz` runs once per message and should not pay for the server.
if (call === undefined) void import("../buzz-dev-mcp/BuzzDevMcp.ts").then(({ buzzDevMcp }) => Program.run(buzzDevMcp))
else void import("../buzz/Buzz.ts").then(({ buzz }) => Program.run(buzz(call.buzz)))
